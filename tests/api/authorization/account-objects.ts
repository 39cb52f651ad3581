import { ownedKind, unusedName, type Kind } from './kind'
import { newOrganization } from '../../harness/organization'
import { call, idIn, type Fixture } from '../../harness/byok'
import { openDatabase } from '../../harness/database'
import { sendRequest, messages, type Json } from '../../harness/http'
import type { Customer } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

const alert = ownedKind('POST /account/alerts', () => ({
  name: 'Daily cost',
  type: 'cost_threshold',
  threshold: 10,
}))

const budget = ownedKind('POST /account/budgets', () => ({
  name: 'Weekly',
  amount: 10,
  window: 'week',
}))

const tail = () => unusedName('').replaceAll(/\D/g, '').padStart(26, '0')

/** Made by an event, not by a request. */
const trigger: Kind = {
  async make(fixture) {
    const { owner, ids } = await alert.make(fixture)
    const id = `trg_${tail()}`
    await using sql = await openDatabase(fixture.gateway.dataDir)
    await sql`
      insert into alert_trigger (id, alert_id, triggered_at, value)
      values (${id}, ${ids[0]}, now(), 11)`
    return { owner, ids: [...ids, id] }
  },
}

const destination: Kind = {
  async make(fixture) {
    const owner = await fixture.newCustomer()
    const body = { name: 'Operations', kind: 'slack', url: fixture.upstream.url }
    const made = await call(fixture.gateway, owner, 'POST /account/notification-destinations', body)
    return { owner, ids: [idIn(made)] }
  },
}

/** Inserts a delivery to a destination, which no request makes. Resolves with its id. */
export async function insertDelivery(fixture: Fixture, destinationId?: string): Promise<string> {
  const id = `dlv_${tail()}`
  await using sql = await openDatabase(fixture.gateway.dataDir)
  await sql`
    insert into notification_delivery (id, destination_id, event, payload, status)
    values (${id}, ${destinationId}, 'balance.low', '{}', 'failed')`
  return id
}

/** Made by an event, not by a request. */
const delivery: Kind = {
  async make(fixture) {
    const { owner, ids } = await destination.make(fixture)
    return { owner, ids: [...ids, await insertDelivery(fixture, ids[0])] }
  },
}

const notification: Kind = {
  async make(fixture) {
    const owner = await fixture.newCustomer()
    const id = `ntf_${tail()}`
    await using sql = await openDatabase(fixture.gateway.dataDir)
    await sql`
      insert into notification (id, user_id, kind, title, body)
      values (${id}, ${owner.userId}, 'system', 'Hello', 'Hello.')`
    return { owner, ids: [id] }
  },
}

/** Issued by a job, not by a request. */
export const invoice: Kind = {
  async make(fixture) {
    const owner = await fixture.newCustomer()
    const id = `invoice_${tail()}`
    const party = { name: 'One', address: [], country: null, tax_id: null, email: null }
    await using sql = await openDatabase(fixture.gateway.dataDir)
    await sql`
      insert into invoice (id, account_id, kind, subject, number, issued_on, total, seller, buyer)
      values (${id}, ${owner.userId}, 'usage', '2026-10', ${id}, now(), 0,
        ${{ ...party, note: null }}, ${{ ...party, purchase_order: null }})`
    return { owner, ids: [id] }
  },
}

/** A log is written behind its request. */
export const requestLog: Kind = {
  async make(fixture) {
    const owner = await fixture.newCustomer()
    const body = { model: 'sandbox/echo', messages }
    const { headers } = await sendRequest(fixture.gateway, { key: owner.key, body })
    const id = headers.get('x-request-id') ?? ''
    await eventually(async () => {
      const { status } = await call(fixture.gateway, owner, `GET /account/request-logs/${id}`)
      return status === 200
    })
    return { owner, ids: [id] }
  },
}

const addressOf = async ({ gateway }: Fixture, { userId }: Customer) =>
  String((await gateway.admin('GET', `/users/${userId}`))['email'])

const invite = async (fixture: Fixture, email: string) => {
  const organization = await newOrganization(fixture)
  const { owner, path } = organization
  const invited = await call(fixture.gateway, owner, `POST ${path}/members/invite`, { email })
  return { organization, invitation: idIn(invited) }
}

const publicModel: Kind = {
  make: async (fixture) => ({ owner: await fixture.newCustomer(), ids: ['sandbox/echo'] }),
  unknown: 'sandbox/never',
  isPublic: true,
}

const models = ['sandbox/echo', 'sandbox/lorem', 'sandbox/tools']
let made = 0

/** The rating or mark of an account for a model that every account sees. */
const ofModel = (requestFor: (model: string) => [request: string, body: Json]): Kind => ({
  async make(fixture) {
    const owner = await fixture.newCustomer()
    // No two accounts have the same, so that one's is never the other's by chance.
    const model = models[made++ % models.length] ?? ''
    const [request, body] = requestFor(model)
    const { status, text } = await call(fixture.gateway, owner, request, body)
    if (status !== 201) throw new Error(`${request}: ${status} ${text}`)
    return { owner, ids: [model] }
  },
  // A model without ratings and marks.
  unknown: 'sandbox/embedding',
})

/** What accounts have beside connections and organizations; `kinds` of `objects.ts` says what it is for. */
export const accountKinds: Readonly<Record<string, readonly Kind[]>> = {
  '/api/account/alerts/:alert_id': [alert],
  '/api/account/alerts/:alert_id/triggers/:trigger_id': [trigger],
  '/api/account/budgets/:budget_id': [budget],
  '/api/account/notifications/:id': [notification],
  '/api/account/notification-destinations/:destination_id': [destination],
  '/api/account/notification-destinations/:destination_id/deliveries/:delivery_id': [delivery],
  '/api/account/keys/:id': [ownedKind('POST /account/keys', () => ({ name: 'Another' }))],
  '/api/models/:model_id': [publicModel],
  'DELETE /api/models/:model_id/ratings': [
    ofModel((model) => [`POST /models/${model}/ratings`, { rating: 5 }]),
  ],
  '/api/favorites/:model_id': [ofModel((model_id) => ['POST /favorites', { model_id }])],
  '/api/account/request-logs/:id': [requestLog],
  '/api/billing/invoices/:invoice_id': [invoice],
  '/api/user/prompts/:id': [
    ownedKind('POST /user/prompts', () => ({ title: unusedName('prompt'), content: 'Hello.' })),
  ],
  '/api/support/tickets/:id': [
    ownedKind('POST /support/tickets', () => ({ subject: 'A question', description: 'Why?' })),
  ],
  '/api/automation/sessions/:id': [
    ownedKind('POST /automation/sessions', () => ({ modelId: 'sandbox/echo' })),
  ],
  '/api/automation/templates/:id': [
    ownedKind('POST /automation/templates', () => ({
      name: unusedName('template'),
      systemPrompt: 'You help.',
    })),
  ],
  '/api/organizations/:id/invitations/:inv_id': [
    {
      async make(fixture) {
        const email = `${unusedName('guest')}@example.com`
        const { organization, invitation } = await invite(fixture, email)
        const { owner, id, member } = organization
        return { owner, ids: [id, invitation], viewer: await member('viewer') }
      },
    },
  ],
  '/api/organizations/:id/budgets/:budget_id': [
    {
      async make(fixture) {
        const { owner, id, path, member } = await newOrganization(fixture)
        const fields = { name: 'Everyone', amount: 10, window: 'week' }
        const made = await call(fixture.gateway, owner, `POST ${path}/budgets`, fields)
        return { owner, ids: [id, idIn(made)], viewer: await member() }
      },
    },
  ],
  '/api/organizations/invitations/:inv_id': [
    {
      async make(fixture) {
        const owner = await fixture.newCustomer()
        const { invitation } = await invite(fixture, await addressOf(fixture, owner))
        return { owner, ids: [invitation] }
      },
    },
  ],
}
