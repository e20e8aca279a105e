// A back door of ours: sets any property of any object. govmomi has one for VMs only (extraConfig SET.path).
//
//	POST /set   <set><obj type="HostSystem">host-21</obj><path>runtime.inQuarantineMode</path>
//	             <val xsi:type="xsd:boolean">true</val></set>
//
// Any number of these may follow each other.
package main

import (
	"fmt"
	"io"
	"net/http"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"
	"github.com/vmware/govmomi/vim25/xml"
)

type setRequest struct {
	Obj  types.ManagedObjectReference `xml:"obj"`
	Path string                       `xml:"path"`
	Val  types.AnyType                `xml:"val,typeattr"`
}

func withSet(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/set" {
			next.ServeHTTP(w, r)
			return
		}
		decoder := xml.NewDecoder(io.LimitReader(r.Body, 16<<20))
		decoder.TypeFunc = types.TypeFunc()
		var err error
		for err == nil {
			var req setRequest
			if err = decoder.Decode(&req); err == nil {
				err = set(req)
			}
		}
		if err != io.EOF {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
}

func set(req setRequest) (err error) {
	obj := simulator.Map.Get(req.Obj)
	if obj == nil {
		return fmt.Errorf("there is no %s", req.Obj)
	}
	defer func() {
		if wrong := recover(); wrong != nil { // govmomi's answer to a value of the wrong type
			err = fmt.Errorf("%s %s: %v", req.Obj, req.Path, wrong)
		}
	}()
	simulator.Map.WithLock(obj, func() {
		simulator.Map.Update(obj, []types.PropertyChange{{Name: req.Path, Val: req.Val}})
	})
	return nil
}
