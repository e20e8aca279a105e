// High availability's part of a cluster's configuration. govmomi's ReconfigureComputeResource_Task handles rules, groups and
// overrides and ignores dasConfig. This file applies dasConfig before that, as a vCenter does when modify is true: fields that the
// call leaves out stay as they were. The rest of the call and the answer are govmomi's.
package main

import (
	"bytes"
	"io"
	"io/ioutil"
	"net/http"
	"reflect"

	"github.com/vmware/govmomi/simulator"
	"github.com/vmware/govmomi/vim25/types"
)

func withHA(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := ioutil.ReadAll(io.LimitReader(r.Body, 64<<20))
		if err == nil && bytes.Contains(body, []byte("<dasConfig>")) {
			configureHA(body)
		}
		r.Body = ioutil.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

func configureHA(body []byte) {
	method, err := simulator.UnmarshalBody(types.TypeFunc(), body)
	if err != nil {
		return // govmomi will say so
	}
	req, ok := method.Body.(*types.ReconfigureComputeResource_Task)
	if !ok {
		return
	}
	spec, ok := req.Spec.(*types.ClusterConfigSpecEx)
	cluster, there := simulator.Map.Get(req.This).(*simulator.ClusterComputeResource)
	if !ok || !there || spec.DasConfig == nil {
		return
	}
	simulator.Map.WithLock(cluster, func() {
		to := reflect.ValueOf(&cluster.ConfigurationEx.(*types.ClusterConfigInfoEx).DasConfig).Elem()
		given := reflect.ValueOf(spec.DasConfig).Elem()
		for i := 0; i < given.NumField(); i++ {
			if !given.Field(i).IsZero() {
				to.Field(i).Set(given.Field(i))
			}
		}
	})
}
