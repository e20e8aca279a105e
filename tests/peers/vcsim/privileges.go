// A user with a role, a part of ours: govmomi knows roles and permissions, and lets everybody do everything. The user -limited
// logs in with the simulator's password and may call the methods that its -privileges allow, by the table below, which is the one
// of the API reference ("Required privileges" of each method). Without -folders it may not read the folders and datacenters above
// the cluster. -deny takes privileges away on single objects (vm-12:Resource.HotMigrate,...). The user's questions which privileges
// its session has are answered by the same rules.
package main

import (
	"bytes"
	"fmt"
	"io"
	"io/ioutil"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
)

var required = map[string][]string{
	"RetrievePropertiesEx":             {"System.Read"},
	"QueryPerf":                        {"System.Read"},
	"HasPrivilegeOnEntities":           {"System.Read"},
	"CheckMigrate_Task":                {"System.View"},
	"QueryVMotionCompatibilityEx_Task": {"System.View"},
	"RelocateVM_Task":                  {"Resource.ColdMigrate", "Resource.HotMigrate"}, // of a VM that runs
	"MigrateVM_Task":                   {"Resource.HotMigrate"},
	"PowerOnVM_Task":                   {"VirtualMachine.Interact.PowerOn"},
	"EnterMaintenanceMode_Task":        {"Host.Config.Maintenance"},
	"ExitMaintenanceMode_Task":         {"Host.Config.Maintenance"},
	"PowerDownHostToStandBy_Task":      {"Host.Config.Maintenance"},
	"PowerUpHostFromStandBy_Task":      {"Host.Config.Maintenance"},
	"UpdateConfig":                     {"Resource.EditPool"},
}

// Methods of every session, and of tasks that the user has started.
var open = map[string]bool{"RetrieveServiceContent": true, "Logout": true, "QueryEvents": true, "CancelTask": true,
	"ContinueRetrievePropertiesEx": true}

type limitedUser struct {
	name, admin string
	privileges  map[string]bool
	denied      map[string]bool // "vm-12:Resource.HotMigrate"
	folders     bool
	sessions    sync.Map // cookie -> true
}

func newLimitedUser(name, admin, privileges, deny string, folders bool) *limitedUser {
	u := &limitedUser{name: name, admin: admin, privileges: map[string]bool{}, denied: map[string]bool{}, folders: folders}
	for _, p := range strings.Split(privileges, ",") {
		u.privileges[p] = true
	}
	for _, d := range strings.Split(deny, ",") {
		u.denied[d] = true
	}
	return u
}

// Whether the user has the privilege on the object (its type, its id).
func (u *limitedUser) has(kind, object, privilege string) bool {
	if (kind == "Folder" || kind == "Datacenter") && !u.folders {
		return false
	}
	return u.privileges[privilege] && !u.denied[object+":"+privilege]
}

var methodOf = regexp.MustCompile(`Body>\s*<(?:\w+:)?(\w+)`)
var thisOf = regexp.MustCompile(`<_this type="(\w+)">([^<]+)<`)
var entityOf = regexp.MustCompile(`<entity type="(\w+)">([^<]+)<`)
var privIDOf = regexp.MustCompile(`<privId>([\w.]+)<`)
var startsAt = regexp.MustCompile(`<obj type="(Folder|Datacenter)">`)
var cookieOf = regexp.MustCompile(`vmware_soap_session="?([^;"]+)`)

func (u *limitedUser) login(next http.Handler, w http.ResponseWriter, r *http.Request, body []byte) {
	body = bytes.Replace(body, []byte("<userName>"+u.name+"<"), []byte("<userName>"+u.admin+"<"), 1)
	r.Body = ioutil.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	answer := httptest.NewRecorder()
	next.ServeHTTP(answer, r)
	for name, values := range answer.Header() {
		w.Header()[name] = values
		for _, v := range values {
			if cookie := cookieOf.FindStringSubmatch(v); name == "Set-Cookie" && cookie != nil {
				u.sessions.Store(cookie[1], true)
			}
		}
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// What the user lacks for the call; "": nothing.
func (u *limitedUser) lacks(method string, body []byte) string {
	needed := required[method]
	if method == "RetrievePropertiesEx" && !u.folders && startsAt.Match(body) {
		return "System.Read"
	}
	if len(needed) == 0 && !open[method] {
		return "of a method without an entry in the table: " + method
	}
	kind, object := "", ""
	if this := thisOf.FindSubmatch(body); this != nil {
		kind, object = string(this[1]), string(this[2])
	}
	for _, p := range needed {
		if !u.has(kind, object, p) {
			return p
		}
	}
	return ""
}

// HasPrivilegeOnEntities. A question about an object that the user may not read is refused as a whole.
func (u *limitedUser) tellPrivileges(w http.ResponseWriter, body []byte) {
	var answer strings.Builder
	for _, e := range entityOf.FindAllSubmatch(body, -1) {
		kind, object := string(e[1]), string(e[2])
		if !u.has(kind, object, "System.View") {
			refuse(w, "System.View")
			return
		}
		fmt.Fprintf(&answer, `<returnval><entity type="%s">%s</entity>`, kind, object)
		for _, p := range privIDOf.FindAllSubmatch(body, -1) {
			fmt.Fprintf(&answer, `<privAvailability><privId>%s</privId><isGranted>%v</isGranted></privAvailability>`, p[1],
				u.has(kind, object, string(p[1])))
		}
		answer.WriteString("</returnval>")
	}
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/">`+
		`<soapenv:Body><HasPrivilegeOnEntitiesResponse xmlns="urn:vim25">%s</HasPrivilegeOnEntitiesResponse></soapenv:Body>`+
		`</soapenv:Envelope>`, answer.String())
}

func refuse(w http.ResponseWriter, privilege string) {
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	w.WriteHeader(http.StatusInternalServerError)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" `+
		`xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body><soapenv:Fault><faultcode>ServerFaultCode</faultcode>`+
		`<faultstring>Permission to perform this operation was denied.</faultstring><detail><NoPermissionFault xmlns="urn:vim25" `+
		`xsi:type="NoPermission"><privilegeId>%s</privilegeId></NoPermissionFault></detail></soapenv:Fault></soapenv:Body>`+
		`</soapenv:Envelope>`, privilege)
}

func (u *limitedUser) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := ioutil.ReadAll(io.LimitReader(r.Body, 64<<20))
		r.Body = ioutil.NopCloser(bytes.NewReader(body))
		found := methodOf.FindSubmatch(body)
		if found != nil && string(found[1]) == "Login" && bytes.Contains(body, []byte("<userName>"+u.name+"<")) {
			if !u.privileges["System.View"] { // a user without any permission
				refuse(w, "System.View")
				return
			}
			u.login(next, w, r, body)
			return
		}
		if cookie := cookieOf.FindStringSubmatch(r.Header.Get("Cookie")); found != nil && cookie != nil {
			if _, is := u.sessions.Load(cookie[1]); is {
				if privilege := u.lacks(string(found[1]), body); privilege != "" {
					refuse(w, privilege)
					return
				}
				if string(found[1]) == "HasPrivilegeOnEntities" {
					u.tellPrivileges(w, body)
					return
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}
