import { z } from 'zod'

export const gatewayVariables = {
  // A row that was not refreshed for a minute counts as one of a node that is gone.
  GATEWAY_HEARTBEAT_SECONDS: z.coerce.number().min(1).max(40).default(30),
}

/** The heartbeat of the sockets of self-hosted gateways. */
export interface GatewayConfig {
  /** The interval at which both sides send a heartbeat, in milliseconds; twice that without one is a timeout. */
  gatewayHeartbeatMs: number
}

const Variables = z.object(gatewayVariables)

export const toGatewayConfig = (env: z.output<typeof Variables>): GatewayConfig => ({
  gatewayHeartbeatMs: Math.round(env.GATEWAY_HEARTBEAT_SECONDS * 1000),
})
