"""Filters and weighers as an OpenStack admin writes them, for test_nova_units.py: real Nova loads this module, and so does units/python."""
from oslo_log import log as logging

from nova.scheduler import filters
from nova.scheduler.filters import utils
from nova.scheduler import utils as scheduler_utils
from nova.scheduler import weights

LOG = logging.getLogger(__name__)


class AcmeFilter(filters.BaseHostFilter):
    """The example of Nova's documentation: an extra spec, against the aggregates of the host."""
    RUN_ON_REBUILD = True

    def host_passes(self, host_state, spec_obj):
        wanted = spec_obj.flavor.extra_specs.get("acme:disk")
        LOG.info("Extra spec value was '%s'", wanted)
        offered = utils.aggregate_metadata_get_by_host(host_state, "disk")["disk"]
        return wanted is None or wanted in offered


class RoomFilter(filters.BaseHostFilter):
    """Figures of the host."""
    def host_passes(self, host_state, spec_obj):
        if host_state.free_ram_mb - spec_obj.memory_mb < 1024 or host_state.free_disk_mb < spec_obj.root_gb * 1024:
            return False
        return host_state.vcpus_used + spec_obj.vcpus <= host_state.vcpus_total * host_state.cpu_allocation_ratio and host_state.num_io_ops < 5


class RequestFilter(filters.BaseHostFilter):
    """Hints, image, project and zone of the request."""
    def host_passes(self, host_state, spec_obj):
        hint = spec_obj.get_scheduler_hint("acme_rack")
        if hint and not host_state.host.endswith(hint):
            return False
        properties = spec_obj.image.properties if spec_obj.image else {}
        if "hw_cpu_cores" in properties and int(properties.get("hw_cpu_cores")) > host_state.vcpus_total // 16:
            return False
        tenants = utils.aggregate_values_from_key(host_state, "tenant")
        return (not tenants or spec_obj.project_id in tenants) and spec_obj.availability_zone != "west"


class HealthFilter(filters.BaseHostFilter):
    """Statistics, metrics and the service."""
    def host_passes(self, host_state, spec_obj):
        if host_state.service["disabled"] or not host_state.service["up"] or int(host_state.stats.get("failed_builds", 0)) > 2:
            return False
        return all(m.value < 70 for m in host_state.metrics) and "kvm" in [t for _, t, _ in host_state.supported_instances] \
            and host_state.hypervisor_version >= 2000000


class BestHalfFilter(filters.BaseHostFilter):
    """Decides about all hosts together."""
    def filter_all(self, filter_obj_list, spec_obj):
        hosts = sorted(filter_obj_list, key=lambda h: (h.free_ram_mb, h.nodename))
        return iter(hosts[len(hosts) // 2:])


class BrokenFilter(filters.BaseHostFilter):
    """An error of the class."""
    def host_passes(self, host_state, spec_obj):
        return host_state.free_ram_mb > spec_obj.flavor.extra_specs["acme:disk"]


class WarmWeigher(weights.BaseHostWeigher):
    """As RAMWeigher is made: a scale from 0, a multiplier that aggregates may set."""
    minval = 0

    def weight_multiplier(self, host_state):
        return scheduler_utils.get_weight_multiplier(host_state, "warm_weight_multiplier", 2.5)

    def _weigh_object(self, host_state, weight_properties):
        return host_state.free_ram_mb - weight_properties.flavor.memory_mb


class SpreadWeigher(weights.BaseHostWeigher):
    """Weighs all hosts together; less is better."""
    def weight_multiplier(self, host_state):
        return -1.0

    def _weigh_object(self, obj, weight_properties):
        return obj.vcpus_used

    def weigh_objects(self, weighed_obj_list, weight_properties):
        most = max(w.obj.vcpus_used for w in weighed_obj_list)
        return [w.obj.vcpus_used / most if most else 0 for w in weighed_obj_list]
