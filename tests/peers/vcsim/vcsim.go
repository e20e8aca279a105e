// vcsim: the vSphere API simulator of govmomi as a program, for the tests.
//
// Debian packages the library (golang-github-vmware-govmomi-dev 0.24.2) but not the command. The SOAP server, the
// inventory and the methods are govmomi's; this adds a command line, a certificate of our own, migrations
// that take time (-slow-relocate), because the library's end before they answer, the configuration of a cluster
// (cluster_config.go), and a back door that sets any property (set.go).
//
// Prints one line, "URL https://user:pass@127.0.0.1:PORT/sdk", when it is ready, and ends on SIGTERM or when its
// standard input is closed, so that it never outlives the test that started it.
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"io/ioutil"
	"log"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/vmware/govmomi/simulator"
	_ "github.com/vmware/govmomi/vapi/simulator"
)

func main() {
	m := simulator.VPX()
	flag.IntVar(&m.Datacenter, "dc", 1, "datacenters")
	flag.IntVar(&m.Cluster, "cluster", 1, "clusters per datacenter")
	flag.IntVar(&m.ClusterHost, "host", 4, "hosts per cluster")
	flag.IntVar(&m.Host, "standalone-host", 0, "hosts outside of any cluster, with VMs of their own")
	flag.IntVar(&m.Machine, "vm", 40, "VMs per pool")
	flag.IntVar(&m.Pool, "pool", 0, "pools below the root of each cluster; 0: the VMs stand in the root")
	flag.IntVar(&m.Portgroup, "portgroup", 1, "distributed port groups per datacenter")
	flag.IntVar(&m.Datastore, "ds", 1, "datastores per datacenter")
	listen := flag.String("l", "127.0.0.1:0", "address and port to listen on")
	user := flag.String("username", "user", "the only user")
	pass := flag.String("password", "pass", "password of the user")
	useTLS := flag.Bool("tls", true, "HTTPS")
	cert := flag.String("cert", "", "PEM file with the server's certificate; none: govmomi's own")
	key := flag.String("key", "", "PEM file with its key")
	slow := flag.Int("slow-relocate", 0, "milliseconds that RelocateVM_Task runs before the VM arrives; then VMs also start at the host that is asked for")
	refuse := flag.String("refuse-hosts", "", "names of hosts, with commas: slow relocations to these end in an error")
	every := flag.Int64("fail-every", 0, "one in so many slow relocations ends in an error; 0: none")
	broken := flag.Bool("fail-relocate", false, "slow relocations end in an error, with the VM where it was")
	checker := flag.Bool("checker", false, "check migrations for networks, datastores and vGPUs (checker.go)")
	limited := flag.String("limited", "", "a second user, who may do what -privileges allow (privileges.go)")
	privileges := flag.String("privileges", "System.View,System.Read", "of that user, with commas between them")
	deny := flag.String("deny", "", "ID:PRIVILEGE that the user lacks on single objects, with commas between them")
	folders := flag.Bool("folders", true, "that user may read the folders above the cluster")
	verbose := flag.Bool("v", false, "let the library log")
	flag.IntVar(&m.DelayConfig.Delay, "delay", 0, "milliseconds that every method takes")
	flag.Parse()

	if !*verbose {
		log.SetOutput(ioutil.Discard)
	}
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, "vcsim:", err)
		os.Exit(1)
	}
	if err := m.Create(); err != nil {
		fail(err)
	}
	defer m.Remove()
	relocations := &relocationRules{takes: time.Duration(*slow) * time.Millisecond, broken: *broken, every: *every}
	relocations.refuse(*refuse)
	if *slow > 0 {
		slowDown(relocations)
	}

	if *checker {
		startChecking()
	}

	m.Service.RegisterEndpoints = true // the API of tags
	m.Service.Listen = &url.URL{Host: *listen, User: url.UserPassword(*user, *pass)}
	if *useTLS {
		config := new(tls.Config)
		if *cert != "" {
			pair, err := tls.LoadX509KeyPair(*cert, *key)
			if err != nil {
				fail(err)
			}
			config.Certificates = []tls.Certificate{pair}
		}
		m.Service.TLS = config
	}
	s := m.Service.NewServer()
	s.Config.Handler = withSet(relocations.wrap(withClusterConfig(s.Config.Handler)))
	if *limited != "" {
		s.Config.Handler = newLimitedUser(*limited, *user, *privileges, *deny, *folders).wrap(s.Config.Handler)
	}
	fmt.Println("URL", s.URL)

	done := make(chan os.Signal, 1)
	signal.Notify(done, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		_, _ = io.Copy(ioutil.Discard, os.Stdin)
		done <- syscall.SIGTERM
	}()
	<-done
}
