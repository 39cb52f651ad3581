import { z } from 'zod'

export const gatewayVariables = {
  // A row that nobody wrote for a minute is believed to be one of a node that is gone.
  GATEWAY_HEARTBEAT_SECONDS: z.coerce.number().min(1).max(40).default(30),
}

/** How the sockets of self-hosted gateways are watched. */
export interface GatewayConfig {
  /** How often both sides say that they are there, in milliseconds; twice that is a silence. */
  gatewayHeartbeatMs: number
}

const Variables = z.object(gatewayVariables)

export const toGatewayConfig = (env: z.output<typeof Variables>): GatewayConfig => ({
  gatewayHeartbeatMs: Math.round(env.GATEWAY_HEARTBEAT_SECONDS * 1000),
})
