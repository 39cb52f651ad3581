import { createHmac } from 'node:crypto'
import { parsed, type Json } from '../faults/asking'

/** Simulated: no line of this is Stripe's, and no money moves. What it was asked, by its own names. */
export interface Call {
  method: string
  path: string
  key: string
  form: Map<string, string>
}

/** What the double does next instead of answering. */
export type Fault = 'drop' | 'busy' | 'refuse'

/**
 * A stand-in for Stripe's API: HTTP with form-encoded bodies, bearer keys, idempotency keys that are
 * remembered with their answer, and events signed as Stripe signs them.
 * @see https://docs.stripe.com/api
 */
export interface StripeDouble extends AsyncDisposable {
  url: string
  calls: Call[]
  /** Faults of the calls to come, first one first. */
  faults: Fault[]
  /** Something to be done before a checkout that was opened is answered. */
  beforeAnswer: ((sessionId: string) => Promise<void>) | undefined
  /** What becomes of charges of a payment method. */
  methods: Map<string, 'good' | 'declined' | 'slow'>
  session: (id: string) => Json
  /** The checkout was paid: its events, in the order in which Stripe makes them. */
  pay: (sessionId: string, changed?: Json) => Paid
  expire: (sessionId: string) => Json
  refund: (paymentRef: string, cents: number) => Json
  dispute: (paymentRef: string, cents: number, status: string) => Json
  event: (type: string, object: Json, changed?: Json) => Json
  /** Cents by payment, and what was taken back as negative ones: what Stripe believes it moved. */
  books: Map<string, number>
}

interface Paid {
  completed: Json
  succeeded: Json
  paymentRef: string
}

export const webhookSecret = 'whsec_simulated_0123456789'

/** Signs a body as of a time, in seconds. @see https://docs.stripe.com/webhooks#verify-manually */
export function signatureOf(
  body: string,
  { secret = webhookSecret, at = Math.floor(Date.now() / 1000) } = {},
): string {
  const mac = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
  return `t=${at},v1=${mac}`
}

let made = 0
const newName = (prefix: string) => `${prefix}_test_${Date.now().toString(36)}${++made}`

class Double {
  readonly calls: Call[] = []
  beforeAnswer: ((sessionId: string) => Promise<void>) | undefined
  readonly faults: Fault[] = []
  readonly methods = new Map<string, 'good' | 'declined' | 'slow'>()
  readonly books = new Map<string, number>()
  readonly #objects = new Map<string, Json>()
  readonly #answers = new Map<string, { asked: string; status: number; body: Json }>()
  /** What payments of a checkout are to carry. */
  readonly #carried = new Map<string, Json>()
  readonly #refunded = new Map<string, number>()

  async answer(request: Request): Promise<Response> {
    const { pathname: path } = new URL(request.url)
    const text = await request.text()
    const form = new Map(new URLSearchParams(text))
    const key = request.headers.get('idempotency-key') ?? ''
    this.calls.push({ method: request.method, path, key, form })
    const bearer = request.headers.get('authorization') ?? ''
    if (!/^Bearer sk_test_\w+$/.test(bearer)) return failed(401, { type: 'invalid_request_error' })
    switch (this.faults.shift()) {
      case 'busy':
        return failed(503, { type: 'api_error' })
      case 'refuse':
        return failed(400, { type: 'invalid_request_error', code: 'amount_too_large' })
      case 'drop': {
        // Done, and nobody hears of it.
        this.#once({ method: request.method, path, key, form }, text)
        throw new Error('dropped')
      }
      case undefined:
    }
    const { status, body } = this.#once({ method: request.method, path, key, form }, text)
    if (path === '/v1/checkout/sessions') await this.beforeAnswer?.(String(body['id']))
    return Response.json(body, { status })
  }

  #once(call: Call, asked: string): { status: number; body: Json } {
    if (call.method === 'GET') return this.#read(call.path)
    const known = this.#answers.get(call.key)
    if (known && known.asked !== asked) {
      return { status: 400, body: { error: { type: 'idempotency_error' } } }
    }
    if (known) return known
    const done = { asked, ...this.#do(call) }
    if (call.key) this.#answers.set(call.key, done)
    return done
  }

  #read(path: string) {
    const found = this.#objects.get(path.split('/').at(-1) ?? '')
    return found
      ? { status: 200, body: found }
      : {
          status: 404,
          body: { error: { type: 'invalid_request_error', code: 'resource_missing' } },
        }
  }

  #do({ path, form }: Call): { status: number; body: Json } {
    if (path === '/v1/checkout/sessions') return { status: 200, body: this.#openSession(form) }
    if (path === '/v1/payment_intents') return this.#charge(form)
    return { status: 404, body: { error: { type: 'invalid_request_error' } } }
  }

  #openSession(form: Map<string, string>): Json {
    const id = newName('cs')
    const session = {
      id,
      object: 'checkout.session',
      url: `https://checkout.simulated.example/${id}`,
      status: 'open',
      payment_status: 'unpaid',
      amount_total: Number(form.get('line_items[0][price_data][unit_amount]')),
      currency: form.get('line_items[0][price_data][currency]') ?? '',
      client_reference_id: form.get('client_reference_id') ?? null,
      metadata: metadataOf(form),
      customer: form.get('customer') ?? null,
      payment_intent: null,
      livemode: false,
    }
    this.#objects.set(id, session)
    this.#carried.set(id, metadataOf(form, 'payment_intent_data[metadata]'))
    return session
  }

  #charge(form: Map<string, string>): { status: number; body: Json } {
    const method = form.get('payment_method') ?? ''
    const amount = Number(form.get('amount'))
    const how = this.methods.get(method) ?? 'good'
    if (how === 'declined') {
      const error = { type: 'card_error', code: 'card_declined', message: 'Declined.' }
      return { status: 402, body: { error } }
    }
    const id = newName('pi')
    const intent = {
      id,
      object: 'payment_intent',
      status: how === 'slow' ? 'processing' : 'succeeded',
      amount,
      amount_received: how === 'slow' ? 0 : amount,
      currency: form.get('currency') ?? '',
      customer: form.get('customer') ?? null,
      payment_method: method,
      metadata: metadataOf(form),
    }
    this.#objects.set(id, intent)
    if (how === 'good') this.books.set(id, amount)
    return { status: 200, body: intent }
  }

  session(id: string): Json {
    return this.#objects.get(id) ?? {}
  }

  pay(sessionId: string, changed: Json = {}): Paid {
    const session = this.session(sessionId)
    const paymentRef = newName('pi')
    const { amount_total: amount, currency } = session
    const intent = {
      id: paymentRef,
      object: 'payment_intent',
      status: 'succeeded',
      amount_received: amount,
      currency,
      metadata: this.#carried.get(sessionId),
      customer: session['customer'] ?? newName('cus'),
      payment_method: newName('pm'),
    }
    this.#objects.set(paymentRef, intent)
    this.books.set(paymentRef, Number(amount))
    const paid = {
      ...session,
      status: 'complete',
      payment_status: 'paid',
      payment_intent: paymentRef,
      customer: intent.customer,
    }
    this.#objects.set(sessionId, paid)
    return {
      paymentRef,
      completed: this.event('checkout.session.completed', { ...paid, ...changed }),
      succeeded: this.event('payment_intent.succeeded', intent),
    }
  }

  expire(sessionId: string): Json {
    return this.event('checkout.session.expired', { ...this.session(sessionId), status: 'expired' })
  }

  refund(paymentRef: string, cents: number): Json {
    const total = (this.#refunded.get(paymentRef) ?? 0) + cents
    this.#refunded.set(paymentRef, total)
    const id = `ch_${paymentRef}`
    this.books.set(id, -total)
    return this.event('charge.refunded', {
      id,
      object: 'charge',
      payment_intent: paymentRef,
      amount_refunded: total,
      currency: 'usd',
    })
  }

  dispute(paymentRef: string, cents: number, status: string): Json {
    const id = newName('dp')
    if (status === 'lost') this.books.set(id, -cents)
    const dispute = { id, object: 'dispute', payment_intent: paymentRef, amount: cents, status }
    return this.event('charge.dispute.closed', { ...dispute, currency: 'usd' })
  }

  event(type: string, object: Json, changed: Json = {}): Json {
    const created = Math.floor(Date.now() / 1000)
    const about = { id: newName('evt'), object: 'event', type, created, livemode: false }
    return { ...about, data: { object }, ...changed }
  }
}

/** The fields of `metadata[...]`, or of another name. */
const metadataOf = (form: Map<string, string>, prefix = 'metadata'): Json =>
  Object.fromEntries(
    [...form].flatMap(([name, value]) => {
      const isOne = name.startsWith(`${prefix}[`) && name.endsWith(']')
      return isOne ? [[name.slice(prefix.length + 1, -1), value]] : []
    }),
  )

const failed = (status: number, error: Json) => Response.json({ error }, { status })

/** Starts one on a free port of this machine. */
export function startStripeDouble(): StripeDouble {
  const double = new Double()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => double.answer(request),
    // A connection that breaks off.
    error: () => new Response(null, { status: 500, headers: { 'stripe-should-retry': 'true' } }),
  })
  return Object.assign(double, {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  })
}

interface Delivered {
  status: number
  body: Json
}

/** Sends an event as Stripe would; a text goes out as it is. */
export async function deliver(
  gatewayUrl: string,
  event: Json | string,
  { signature, ...signing }: { signature?: string; secret?: string; at?: number } = {},
): Promise<Delivered> {
  const body = typeof event === 'string' ? event : JSON.stringify(event)
  const response = await fetch(`${gatewayUrl}/api/webhooks/payments`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'stripe-signature': signature ?? signatureOf(body, signing),
    },
    body,
  })
  return { status: response.status, body: parsed(await response.text()) }
}
