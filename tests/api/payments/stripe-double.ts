import { chargeOf, withExpanded } from './stripe-charges'
import { listIn } from './stripe-lists'
import { taxOf } from './stripe-tax'
import type { Json } from '../../harness/http'

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
  /** A refund was not carried out after all: its event. */
  failRefund: (paymentRef: string) => Json
  /** All that has happened was so much earlier. */
  age: (seconds: number) => void
  /** Something else that is sold by the same account. */
  sell: (cents: number) => void
  /** Has never heard of a payment, a refund or a dispute. */
  forget: (name: string) => void
  event: (type: string, object: Json, changed?: Json) => Json
  /** Cents by payment, and what was taken back as negative ones: what Stripe believes it moved. */
  books: Map<string, number>
}

interface Paid {
  completed: Json
  succeeded: Json
  paymentRef: string
}

const now = () => Math.floor(Date.now() / 1000)

let made = 0
const newName = (prefix: string) => `${prefix}_test_${Date.now().toString(36)}${++made}`

class Double {
  readonly calls: Call[] = []
  beforeAnswer: ((sessionId: string) => Promise<void>) | undefined
  readonly faults: Fault[] = []
  readonly methods = new Map<string, 'good' | 'declined' | 'slow'>()
  readonly books = new Map<string, number>()
  readonly #objects = new Map<string, Json>()
  readonly #answers = new Map<string, { fingerprint: string; status: number; body: Json }>()
  /** What payments of a checkout are to carry. */
  readonly #responses = new Map<string, Json>()
  readonly #refunded = new Map<string, number>()

  async answer(request: Request): Promise<Response> {
    const { pathname: path, searchParams } = new URL(request.url)
    const text = request.method === 'GET' ? searchParams.toString() : await request.text()
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
        // Done, but the answer is lost.
        this.#once({ method: request.method, path, key, form }, text)
        throw new Error('dropped')
      }
      case undefined:
    }
    const { status, body } = this.#once({ method: request.method, path, key, form }, text)
    if (path === '/v1/checkout/sessions') await this.beforeAnswer?.(String(body['id']))
    return Response.json(body, { status })
  }

  #once(call: Call, fingerprint: string): { status: number; body: Json } {
    if (call.method === 'GET') return this.#read(call)
    const known = this.#answers.get(call.key)
    if (known && known.fingerprint !== fingerprint) {
      return { status: 400, body: { error: { type: 'idempotency_error' } } }
    }
    if (known) return known
    const done = { fingerprint, ...this.#do(call) }
    if (call.key) this.#answers.set(call.key, done)
    return done
  }

  #read({ path, form }: Call): { status: number; body: Json } {
    const list = listIn([...this.#objects.values()], path, form)
    if (list) return { status: 200, body: list }
    const found = this.#objects.get(path.split('/').at(-1) ?? '')
    return found
      ? { status: 200, body: withExpanded(found, form.get('expand[0]')) }
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
      automatic_tax: { enabled: form.get('automatic_tax[enabled]') === 'true', status: null },
      total_details: { amount_tax: 0 },
    }
    this.#objects.set(id, session)
    this.#responses.set(id, metadataOf(form, 'payment_intent_data[metadata]'))
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
      created: now(),
      object: 'payment_intent',
      status: how === 'slow' ? 'processing' : 'succeeded',
      amount,
      amount_received: how === 'slow' ? 0 : amount,
      currency: form.get('currency') ?? '',
      customer: form.get('customer') ?? null,
      payment_method: method,
      metadata: metadataOf(form),
      latest_charge: how === 'slow' ? null : chargeOf(id),
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
      created: now(),
      object: 'payment_intent',
      status: 'succeeded',
      amount_received: amount,
      currency,
      metadata: this.#responses.get(sessionId),
      customer: session['customer'] ?? newName('cus'),
      payment_method: newName('pm'),
      latest_charge: chargeOf(paymentRef),
    }
    this.#objects.set(paymentRef, intent)
    this.books.set(paymentRef, Number(amount))
    const paid = {
      ...session,
      status: 'complete',
      payment_status: 'paid',
      payment_intent: paymentRef,
      customer: intent.customer,
      ...taxOf(session),
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
    const refund = { id: newName('re'), object: 'refund', charge: id, payment_intent: paymentRef }
    const more = { amount: cents, currency: 'usd', status: 'succeeded', created: now() }
    this.#objects.set(refund.id, { ...refund, ...more })
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
    const whole = { ...dispute, currency: 'usd', created: now() }
    this.#objects.set(id, whole)
    return this.event('charge.dispute.closed', whole)
  }

  failRefund(paymentRef: string): Json {
    const [last] = [...this.#objects.values()].toReversed().filter((one) => {
      return one['object'] === 'refund' && one['payment_intent'] === paymentRef
    })
    if (!last) throw new Error(`nothing of ${paymentRef} was refunded`)
    last['status'] = 'failed'
    return this.event('refund.failed', { ...last })
  }

  sell(cents: number): void {
    const id = newName('pi')
    const about = { id, object: 'payment_intent', status: 'succeeded', created: now() }
    this.#objects.set(id, { ...about, amount_received: cents, currency: 'usd', metadata: {} })
  }

  forget(name: string): void {
    this.#objects.delete(name)
  }

  age(seconds: number): void {
    for (const one of this.#objects.values()) one['created'] = Number(one['created']) - seconds
  }

  event(type: string, object: Json, changed: Json = {}): Json {
    const about = { id: newName('evt'), object: 'event', type, created: now(), livemode: false }
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
