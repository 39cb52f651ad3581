import type { Tools } from '../automation/tools'
import { ApiError } from '../errors'

/** Stands where the tools of self-hosted gateways are asked for: there are none, and nothing runs. */
export const noGateways: Tools = {
  of: async () => undefined,
  call: () => Promise.reject(new ApiError('connection_failed')),
}
