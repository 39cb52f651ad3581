import { AsyncLocalStorage } from 'node:async_hooks'

/** Who asked for a change, and how. */
export interface Actor {
  /** Of an account, or `operator`. */
  id: string
  /** Of a service key, or `session`; null for the operator. */
  keyId: string | null
  requestId: string
  /** Null for the operator, whose own trail has it. */
  clientAddress: string | null
}

/** What stands for an account where an operator made a change in an organization. */
export const operatorActor = 'operator'
/** The same where nobody asked for it, as when the payment processor tells of a payment. */
export const systemActor = 'system'

/** Whose request the code which asks is a part of; nobody's in jobs and webhooks. */
export const actorContext = new AsyncLocalStorage<Actor>()
