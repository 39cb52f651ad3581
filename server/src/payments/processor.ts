/** A payment to make at the processor's own page. */
export interface NewCheckout {
  /** Our name of the payment; a second call with it opens no second checkout. */
  id: string
  /** Nano-dollars, whole cents. */
  amount: bigint
  successUrl: string
  cancelUrl: string
  email: string
  /** The processor's id of a customer who paid before. */
  customerId: string | undefined
  /** Saves the payment method for later charges. */
  saveMethod: boolean
  /** Computes the tax that the amount includes. */
  hasTax: boolean
}

export interface OpenedCheckout {
  sessionId: string
  url: string
}

/** A charge of a saved payment method, while the customer is absent. */
export interface NewCharge {
  id: string
  amount: bigint
  customerId: string
  methodId: string
}

/** The outcome of a charge; `pending` where an event will report it. */
export type Charged =
  | { type: 'paid'; paymentRef: string; amount: bigint; currency: string }
  | { type: 'failed'; reason: string }
  | { type: 'pending'; paymentRef: string }

export interface SavedMethod {
  customerId: string
  methodId: string
}

/** The movements of a payment at the processor. Amounts are nano-dollars. */
export interface PaymentAmounts {
  /** 0 where it was not paid, or is not known. */
  paid: bigint
  /** Excludes refunds that failed. */
  refunded: bigint
  /** The amount of lost disputes. */
  disputed: bigint
}

/** A line of the processor's lists: the movement of one payment, refund or dispute. */
export interface ListedPayment extends PaymentAmounts {
  paymentRef: string
  /** A payment carries our name. Refunds and disputes are matched by their payment. */
  isOurs: boolean
}

/** The processor's movements of one payment, queried by id. */
export interface Statement extends PaymentAmounts {
  /** The beginning of the last movement. */
  latest: Date
}

/** The bounds of a listing. */
export interface PaymentPeriod {
  /** The earliest creation of listed payments, refunds and disputes. */
  since: { payments: Date; refunds: Date; disputes: Date }
  until: Date
  /** Called before each page: whether there is time for another. */
  hasTime: () => boolean
}

/**
 * The payment processor. Every call has a deadline and is repeated a few times at most, under one name, so that
 * it takes effect once. All reject with `connection_failed` or `provider_error`.
 */
export interface Processor {
  openCheckout: (checkout: NewCheckout) => Promise<OpenedCheckout>
  charge: (charge: NewCharge) => Promise<Charged>
  /** The payment method of a payment; undefined where it cannot be charged again. */
  savedMethod: (paymentRef: string) => Promise<SavedMethod | undefined>
  /** The address of the receipt of a payment; undefined where it has none, or is not known. */
  receipt: (paymentRef: string) => Promise<string | undefined>
  /** The tax in the payment of a checkout; undefined where none was computed, or the checkout is not known. */
  tax: (sessionId: string) => Promise<bigint | undefined>
  /** Passes listed lines to `onPayment`, newest first. Resolves with false where an end was not reached. */
  list: (looking: PaymentPeriod, onPayment: (listed: ListedPayment) => void) => Promise<boolean>
  /** All movements of a payment; zeros where it is not known. */
  statement: (paymentRef: string) => Promise<Statement>
}

/** Reads the events of a processor. */
export interface PaymentEventReader {
  /** Returns the event as it was sent. Rejects with `invalid_request`, issue `bad_signature`. */
  verify: (body: Uint8Array, signature: string) => Promise<unknown>
  /** Returns whether an event is of the mode of this installation's key: real money, or test money. */
  isOfMode: (livemode: boolean | undefined) => boolean
}
