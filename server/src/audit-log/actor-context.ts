import { AsyncLocalStorage } from 'node:async_hooks'

/** The actor of a change: the account or operator, its key and its request. */
export interface Actor {
  /** Id of the account, or `operator`. */
  id: string
  /** Id of the service key, or `session`; null for the operator. */
  keyId: string | null
  requestId: string
  /** Null for the operator, whose address the operators' own audit log records. */
  clientAddress: string | null
}

/** Stands for the account where an operator made a change in an organization. */
export const operatorActor = 'operator'
/** Stands for the account where no request caused the change, such as a payment processor's notice of a payment. */
export const systemActor = 'system'

/** The actor of the request that the running code belongs to; absent in jobs and webhooks. */
export const actorContext = new AsyncLocalStorage<Actor>()
