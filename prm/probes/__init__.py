"""Questions put to a trained PRM and to the policy it judges, one probe a module."""
