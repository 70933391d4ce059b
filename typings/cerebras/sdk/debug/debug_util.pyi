from loomir.host.sdk.debugging import debug_util as debug_util
