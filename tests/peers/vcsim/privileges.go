// A user with a role, a part of ours: govmomi knows roles and permissions, and lets everybody do everything. The user -limited
// logs in with the simulator's password and may call the methods that its -privileges allow, by the table below, which is the one
// of the API reference ("Required privileges" of each method). Without -folders it may not read the folders and datacenters above
// the cluster.
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

var required = map[string]string{
	"RetrievePropertiesEx":             "System.Read",
	"QueryPerf":                        "System.Read",
	"CheckMigrate_Task":                "System.View",
	"QueryVMotionCompatibilityEx_Task": "Resource.QueryVMotion",
	"RelocateVM_Task":                  "Resource.HotMigrate",
	"MigrateVM_Task":                   "Resource.HotMigrate",
	"PowerOnVM_Task":                   "VirtualMachine.Interact.PowerOn",
	"EnterMaintenanceMode_Task":        "Host.Config.Maintenance",
	"ExitMaintenanceMode_Task":         "Host.Config.Maintenance",
	"PowerDownHostToStandBy_Task":      "Host.Config.Maintenance",
	"PowerUpHostFromStandBy_Task":      "Host.Config.Maintenance",
	"UpdateConfig":                     "Resource.EditPool",
}

// Methods of every session, and of tasks that the user has started.
var open = map[string]bool{"RetrieveServiceContent": true, "Logout": true, "QueryEvents": true, "CancelTask": true,
	"ContinueRetrievePropertiesEx": true}

type limitedUser struct {
	name, admin string
	privileges  map[string]bool
	folders     bool
	sessions    sync.Map // cookie -> true
}

func newLimitedUser(name, admin, privileges string, folders bool) *limitedUser {
	u := &limitedUser{name: name, admin: admin, privileges: map[string]bool{}, folders: folders}
	for _, p := range strings.Split(privileges, ",") {
		u.privileges[p] = true
	}
	return u
}

var methodOf = regexp.MustCompile(`Body>\s*<(?:\w+:)?(\w+)`)
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
	privilege := required[method]
	switch {
	case method == "RetrievePropertiesEx" && !u.folders && startsAt.Match(body):
		return "System.Read"
	case privilege == "" && !open[method]:
		return "of a method without an entry in the table: " + method
	case privilege != "" && !u.privileges[privilege]:
		return privilege
	}
	return ""
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
			u.login(next, w, r, body)
			return
		}
		if cookie := cookieOf.FindStringSubmatch(r.Header.Get("Cookie")); found != nil && cookie != nil {
			if _, is := u.sessions.Load(cookie[1]); is {
				if privilege := u.lacks(string(found[1]), body); privilege != "" {
					refuse(w, privilege)
					return
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}
