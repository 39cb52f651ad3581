import type { Arrival, LoggedCaller } from './arrival'
import { harmless } from './caller-text'
import { noCache, noMedia, type LogValues } from './log-record'

const maxAgent = 300

/** Returns the values of a log while no provider was called. */
export const toFirstValues = (
  arrival: Arrival,
  caller: LoggedCaller,
  concurrent: number,
): LogValues => ({
  id: arrival.requestId,
  userId: caller.userId,
  keyId: caller.keyId,
  keyPrefix: caller.keyPrefix,
  endpoint: arrival.endpoint,
  streamed: false,
  requestedModel: '',
  model: '',
  provider: null,
  status: 'success',
  statusCode: 200,
  error: null,
  finishReason: null,
  latencyMs: 0,
  firstTokenMs: null,
  inputTokens: 0,
  outputTokens: 0,
  estimated: false,
  cost: 0n,
  platformFee: 0n,
  billingMode: null,
  accountId: null,
  organizationId: null,
  connectionId: null,
  gatewayType: null,
  concurrent,
  callerUser: null,
  metadata: null,
  // Read now, as the address is unknown once the client has disconnected.
  ipAddress: arrival.address(),
  userAgent: harmless(arrival.userAgent, maxAgent),
  ...noCache,
  ...noMedia,
  tags: caller.tags ?? null,
  providerCost: null,
})
