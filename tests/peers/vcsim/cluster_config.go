// A cluster's own configuration. govmomi's ReconfigureComputeResource_Task handles rules, groups and overrides and ignores
// dasConfig, drsConfig and dpmConfig. This file applies these before that, as a vCenter does when modify is true: fields that the
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

func withClusterConfig(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := ioutil.ReadAll(io.LimitReader(r.Body, 64<<20))
		if err == nil && bytes.Contains(body, []byte("ClusterConfigSpecEx")) {
			configureCluster(body)
		}
		r.Body = ioutil.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

func configureCluster(body []byte) {
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
	if !ok || !there {
		return
	}
	simulator.Map.WithLock(cluster, func() {
		config := cluster.ConfigurationEx.(*types.ClusterConfigInfoEx)
		if spec.DasConfig != nil {
			apply(spec.DasConfig, &config.DasConfig)
		}
		if spec.DrsConfig != nil {
			apply(spec.DrsConfig, &config.DrsConfig)
		}
		if spec.DpmConfig != nil {
			if config.DpmConfigInfo == nil {
				config.DpmConfigInfo = new(types.ClusterDpmConfigInfo)
			}
			apply(spec.DpmConfig, config.DpmConfigInfo)
		}
	})
}

// Sets the fields that are given; both are pointers to structs of one type.
func apply(from, to interface{}) {
	given, target := reflect.ValueOf(from).Elem(), reflect.ValueOf(to).Elem()
	for i := 0; i < given.NumField(); i++ {
		if !given.Field(i).IsZero() {
			target.Field(i).Set(given.Field(i))
		}
	}
}
