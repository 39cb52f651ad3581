import type { Stripe as StripeClient } from 'stripe'
import { nanosPerCent, ownIdName, readTax } from './event'
import type {
  Charged,
  PaymentEventReader,
  NewCharge,
  NewCheckout,
  Processor,
  SavedMethod,
} from './processor'
import { listAll, readStatement } from './stripe-lists'
import type { PaymentConfig } from '../platform/config/payments'
import { ApiError, invalidRequest } from '../errors'

const attemptMs = 10_000
const maxRepeats = 2
/** The maximum age of an event. Source: contract 9.4. */
const toleranceSeconds = 300

const toCents = (nanos: bigint) => Number(nanos / nanosPerCent)

/** Opens a client of Stripe's API. @see https://docs.stripe.com/api */
export async function openStripe(secretKey: string, apiBase: string): Promise<Processor> {
  // Most installations sell nothing, and start without it.
  const { Stripe } = await import('stripe')
  const { hostname, port, protocol } = new URL(apiBase)
  const isPlain = protocol === 'http:'
  const stripe = new Stripe(secretKey, {
    host: hostname,
    port: port || (isPlain ? '80' : '443'),
    protocol: isPlain ? 'http' : 'https',
    timeout: attemptMs,
    maxNetworkRetries: maxRepeats,
    telemetry: false,
  })
  return {
    openCheckout: (checkout) => callStripe(() => openCheckout(stripe, checkout)),
    charge: (charge) => callStripe(() => chargeSaved(stripe, charge)),
    savedMethod: (paymentRef) => callStripe(() => findMethod(stripe, paymentRef)),
    tax: (sessionId) => callStripe(() => findTax(stripe, sessionId)),
    receipt: (paymentRef) => callStripe(() => findReceipt(stripe, paymentRef)),
    list: (looking, onPayment) => callStripe(() => listAll(stripe, looking, onPayment)),
    statement: (paymentRef) => callStripe(() => readStatement(stripe, paymentRef)),
  }
}

async function openCheckout(stripe: StripeClient, checkout: NewCheckout) {
  const { id, amount, customerId, saveMethod, hasTax } = checkout
  const metadata = { [ownIdName]: id }
  const session = await stripe.checkout.sessions.create(
    {
      mode: 'payment',
      client_reference_id: id,
      metadata,
      line_items: [
        {
          quantity: 1,
          price_data: {
            currency: 'usd',
            unit_amount: toCents(amount),
            product_data: { name: 'Credits' },
            // Credits are worth what is paid, so that a tax is a part of it.
            ...(hasTax && { tax_behavior: 'inclusive' as const }),
          },
        },
      ],
      payment_intent_data: {
        metadata,
        ...(saveMethod && { setup_future_usage: 'off_session' as const }),
      },
      ...(customerId === undefined
        ? { customer_email: checkout.email, ...(saveMethod && { customer_creation: 'always' }) }
        : {
            customer: customerId,
            ...(hasTax && { customer_update: { address: 'auto' as const } }),
          }),
      ...(hasTax && { automatic_tax: { enabled: true } }),
      success_url: checkout.successUrl,
      cancel_url: checkout.cancelUrl,
    },
    { idempotencyKey: id },
  )
  if (!session.url) throw new ApiError('provider_error', refusal('checkout without an address'))
  return { sessionId: session.id, url: session.url }
}

async function chargeSaved(stripe: StripeClient, charge: NewCharge): Promise<Charged> {
  const { id, amount, customerId, methodId } = charge
  try {
    const intent = await stripe.paymentIntents.create(
      {
        amount: toCents(amount),
        currency: 'usd',
        customer: customerId,
        payment_method: methodId,
        confirm: true,
        off_session: true,
        // The customer is absent and cannot confirm anything.
        error_on_requires_action: true,
        automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
        description: 'Credits',
        metadata: { [ownIdName]: id },
      },
      { idempotencyKey: id },
    )
    const { id: paymentRef, status, amount_received: cents, currency } = intent
    if (status === 'processing') return { type: 'pending', paymentRef }
    if (status !== 'succeeded') return { type: 'failed', reason: `The payment is ${status}.` }
    return { type: 'paid', paymentRef, amount: BigInt(cents) * nanosPerCent, currency }
  } catch (thrown) {
    const reason = refusalOfCustomer(thrown)
    if (reason === undefined) throw thrown
    return { type: 'failed', reason }
  }
}

/** Returns why a customer's saved method was declined, undefined for failures that are not the customer's. */
function refusalOfCustomer(thrown: unknown): string | undefined {
  if (!isStripeError(thrown)) return undefined
  const isOfCard = thrown.type === 'StripeCardError'
  // A method, or a customer, that no longer exists.
  const isDeleted =
    thrown.type === 'StripeInvalidRequestError' &&
    (thrown.param === 'payment_method' || thrown.param === 'customer')
  return isOfCard || isDeleted ? (thrown.code ?? thrown.type) : undefined
}

async function findMethod(
  stripe: StripeClient,
  paymentRef: string,
): Promise<SavedMethod | undefined> {
  const { customer, payment_method: method } = await stripe.paymentIntents.retrieve(paymentRef)
  if (!customer || !method) return undefined
  return { customerId: idOf(customer), methodId: idOf(method) }
}

/** @see https://docs.stripe.com/api/checkout/sessions/object#checkout_session_object-total_details */
async function findTax(stripe: StripeClient, sessionId: string): Promise<bigint | undefined> {
  try {
    return readTax(await stripe.checkout.sessions.retrieve(sessionId))
  } catch (thrown) {
    if (isStripeError(thrown) && thrown.code === 'resource_missing') return undefined
    throw thrown
  }
}

/** @see https://docs.stripe.com/api/charges/object#charge_object-receipt_url */
async function findReceipt(stripe: StripeClient, paymentRef: string): Promise<string | undefined> {
  try {
    const options = { expand: ['latest_charge'] }
    const { latest_charge: charge } = await stripe.paymentIntents.retrieve(paymentRef, options)
    const url = typeof charge === 'object' ? charge?.receipt_url : undefined
    // The dashboard links to it.
    return url?.startsWith('https://') ? url : undefined
  } catch (thrown) {
    if (isStripeError(thrown) && thrown.code === 'resource_missing') return undefined
    throw thrown
  }
}

const idOf = (reference: string | { id: string }) =>
  typeof reference === 'string' ? reference : reference.id

interface StripeError extends Error {
  type: string
  code?: string
  statusCode?: number
  requestId?: string
  /** The invalid field. */
  param?: string
}

const isStripeError = (thrown: unknown): thrown is StripeError =>
  thrown instanceof Error && String(Reflect.get(thrown, 'type')).startsWith('Stripe')

const refusal = (message: string) => ({
  message: 'The payment processor rejected the request.',
  details: { provider: 'stripe', provider_error: message },
})

/** Uses our own texts: the client library's errors carry headers, and texts with parts of the key. */
async function callStripe<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call()
  } catch (thrown) {
    if (!isStripeError(thrown)) throw thrown
    const { type, code, statusCode, requestId } = thrown
    const cause = new Error(
      ['stripe:', type, code, statusCode, requestId].filter(Boolean).join(' '),
    )
    if (type === 'StripeConnectionError') {
      const message = 'The payment processor could not be reached. Retry.'
      throw new ApiError('connection_failed', { message, cause })
    }
    throw new ApiError('provider_error', { ...refusal(code ?? type), cause })
  }
}

/** Creates the reader that verifies Stripe's events. @see https://docs.stripe.com/webhooks#verify-manually */
export function createStripeEventReader(
  { secretKey, webhookSecrets = [] }: Pick<PaymentConfig, 'secretKey' | 'webhookSecrets'>,
  nowMs = () => Date.now(),
): PaymentEventReader {
  return {
    async verify(body, signature) {
      const { Stripe } = await import('stripe')
      const receivedMs = nowMs()
      if (hasBadTime(signature, receivedMs)) throw badSignature()
      for (const secret of webhookSecrets) {
        try {
          return await Stripe.webhooks.constructEventAsync(
            Buffer.from(body),
            signature,
            secret,
            toleranceSeconds,
            undefined,
            receivedMs,
          )
        } catch {
          // Another secret may match.
        }
      }
      throw badSignature()
    },
    isOfMode(livemode) {
      const [, mode] = /^(?:sk|rk)_(live|test)_/.exec(secretKey ?? '') ?? []
      return mode === undefined || livemode === undefined || livemode === (mode === 'live')
    },
  }
}

const badSignature = () =>
  invalidRequest(null, 'bad_signature', 'The signature of the event is not valid.')

/**
 * The library rejects only events that are too old: one dated ahead could be repeated for longer. Accepts exactly
 * one time in digits, as Stripe writes it: of several the library would take another than is checked here.
 */
function hasBadTime(signature: string, receivedMs: number): boolean {
  const [time, ...others] = signature.split(',').filter((part) => /^\s*t\s*=/.test(part))
  const [, seconds] = /^t=(\d+)$/.exec(time ?? '') ?? []
  if (seconds === undefined || others.length > 0) return true
  return Number(seconds) - Math.floor(receivedMs / 1000) > toleranceSeconds
}
