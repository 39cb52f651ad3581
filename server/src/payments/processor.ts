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

/** What the processor moved for a payment. Amounts are nano-dollars. */
export interface Moved {
  /** 0 where it was not paid, or is not known. */
  paid: bigint
  /** Without refunds that were not carried out. */
  refunded: bigint
  /** In disputes that were lost. */
  disputed: bigint
}

/** A line of the processor's lists: what was moved by one payment, refund or dispute. */
export interface Listed extends Moved {
  paymentRef: string
  /** A payment carries our name. Whose refunds and disputes are is known by their payment. */
  isOurs: boolean
}

/** What the processor says of a payment when it is asked for by name. */
export interface Statement extends Moved {
  /** When the last of it was begun. */
  latest: Date
}

/** What a look at the processor's lists is bounded by. */
export interface Looking {
  /** How far back payments, refunds and disputes are listed. */
  since: { payments: Date; refunds: Date; disputes: Date }
  until: Date
  /** Asked before each page: whether there is time for another. */
  hasTime: () => boolean
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
  /** Adds what is listed to `found`, newest first. Resolves with false where an end was not reached. */
  list: (looking: Looking, found: (listed: Listed) => void) => Promise<boolean>
  /** All that was moved for a payment; of nothing where it is not known. */
  statement: (paymentRef: string) => Promise<Statement>
}

/** Reads the events of a processor. */
export interface PaymentEventReader {
  /** The event as it was sent. Rejects with `invalid_request`, issue `bad_signature`. */
  verify: (body: Uint8Array, signature: string) => Promise<unknown>
  /** Whether an event is of the money that this installation's key is for: real, or for tests. */
  isOfMode: (livemode: boolean | undefined) => boolean
}
