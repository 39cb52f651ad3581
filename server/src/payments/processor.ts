/** What one is to pay at the processor's own page. */
export interface NewCheckout {
  /** Our name of the payment; the same asked twice is one. */
  id: string
  /** Nano-dollars, whole cents. */
  amount: bigint
  successUrl: string
  cancelUrl: string
  email: string
  /** Who paid before, by the processor's name. */
  customerId: string | undefined
  /** Keeps what is paid with, for later charges. */
  saveMethod: boolean
}

export interface OpenedCheckout {
  sessionId: string
  url: string
}

/** A charge of what was saved, without anybody there. */
export interface NewCharge {
  id: string
  amount: bigint
  customerId: string
  methodId: string
}

/** How a charge ended; `pending` where an event will tell. */
export type Charged =
  | { type: 'paid'; paymentRef: string; amount: bigint; currency: string }
  | { type: 'failed'; reason: string }
  | { type: 'pending'; paymentRef: string }

export interface SavedMethod {
  customerId: string
  methodId: string
}

/**
 * Who takes the money. Every call has a deadline and is repeated a few times at most, under one name, so
 * that it is done once. All reject with `connection_failed` or `provider_error`.
 */
export interface Processor {
  openCheckout: (checkout: NewCheckout) => Promise<OpenedCheckout>
  charge: (charge: NewCharge) => Promise<Charged>
  /** What a payment was made with; undefined where it cannot be charged again. */
  savedMethod: (paymentRef: string) => Promise<SavedMethod | undefined>
}

/** Reads the events of a processor. */
export interface EventReader {
  /** The event as it was sent. Rejects with `invalid_request`, issue `bad_signature`. */
  verify: (body: Uint8Array, signature: string) => Promise<unknown>
  /** Whether an event is of the money that this installation's key is for: real, or for tests. */
  isOfMode: (livemode: boolean | undefined) => boolean
}
