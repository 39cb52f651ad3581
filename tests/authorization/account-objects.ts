import { owned, unusedName, type Kind } from './kind'
import { newOrganization } from '../connections/organization'
import { call, idIn, type Stage } from '../connections/stage'
import { openDatabase } from '../database'
import { ask, messages, type Json } from '../faults/asking'
import type { Customer } from '../rig'

const alert = owned('POST /account/alerts', () => ({
  name: 'Daily cost',
  type: 'cost_threshold',
  threshold: 10,
}))

const tail = () => unusedName('').replaceAll(/\D/g, '').padStart(26, '0')

/** Made by what happens, not by anybody's request. */
const trigger: Kind = {
  async make(stage) {
    const { owner, ids } = await alert.make(stage)
    const id = `trg_${tail()}`
    await using sql = await openDatabase(stage.gateway.dataDir)
    await sql`
      insert into alert_trigger (id, alert_id, triggered_at, value)
      values (${id}, ${ids[0]}, now(), 11)`
    return { owner, ids: [...ids, id] }
  },
}

const notification: Kind = {
  async make(stage) {
    const owner = await stage.somebody()
    const id = `ntf_${tail()}`
    await using sql = await openDatabase(stage.gateway.dataDir)
    await sql`
      insert into notification (id, user_id, kind, title, body)
      values (${id}, ${owner.userId}, 'system', 'Hello', 'Hello.')`
    return { owner, ids: [id] }
  },
}

/** A log is written behind its request. */
const requestLog: Kind = {
  async make(stage) {
    const owner = await stage.somebody()
    const body = { model: 'sandbox/echo', messages }
    const { headers } = await ask(stage.gateway, { key: owner.key, body })
    const id = headers.get('x-request-id') ?? ''
    for (let tries = 0; tries < 200; tries++) {
      const { status } = await call(stage.gateway, owner, `GET /account/request-logs/${id}`)
      if (status === 200) return { owner, ids: [id] }
      await Bun.sleep(50)
    }
    throw new Error(`there is no log of ${id}`)
  },
}

const addressOf = async ({ gateway }: Stage, { userId }: Customer) =>
  String((await gateway.admin('GET', `/users/${userId}`))['email'])

const invite = async (stage: Stage, email: string) => {
  const organization = await newOrganization(stage)
  const { owner, path } = organization
  const invited = await call(stage.gateway, owner, `POST ${path}/members/invite`, { email })
  return { organization, invitation: idIn(invited) }
}

const everybodysModel: Kind = {
  make: async (stage) => ({ owner: await stage.somebody(), ids: ['sandbox/echo'] }),
  unknown: 'sandbox/never',
  isEverybodys: true,
}

const models = ['sandbox/echo', 'sandbox/lorem', 'sandbox/tools']
let made = 0

/** What an account has of a model that everybody sees: its rating, its mark. */
const ofModel = (requestFor: (model: string) => [request: string, body: Json]): Kind => ({
  async make(stage) {
    const owner = await stage.somebody()
    // No two accounts have the same, so that one's is never the other's by chance.
    const model = models[made++ % models.length] ?? ''
    const [request, body] = requestFor(model)
    const { status, text } = await call(stage.gateway, owner, request, body)
    if (status !== 201) throw new Error(`${request}: ${status} ${text}`)
    return { owner, ids: [model] }
  },
  // One that nobody has anything of.
  unknown: 'sandbox/embedding',
})

/** What accounts have beside connections and organizations; `kinds` of `objects.ts` says what it is for. */
export const accountKinds: Readonly<Record<string, readonly Kind[]>> = {
  '/api/account/alerts/:alert_id': [alert],
  '/api/account/alerts/:alert_id/triggers/:trigger_id': [trigger],
  '/api/account/notifications/:id': [notification],
  '/api/account/keys/:id': [owned('POST /account/keys', () => ({ name: 'Another' }))],
  '/api/models/:model_id': [everybodysModel],
  'DELETE /api/models/:model_id/ratings': [
    ofModel((model) => [`POST /models/${model}/ratings`, { rating: 5 }]),
  ],
  '/api/favorites/:model_id': [ofModel((model_id) => ['POST /favorites', { model_id }])],
  '/api/account/request-logs/:id': [requestLog],
  '/api/user/prompts/:id': [
    owned('POST /user/prompts', () => ({ title: unusedName('prompt'), content: 'Hello.' })),
  ],
  '/api/support/tickets/:id': [
    owned('POST /support/tickets', () => ({ subject: 'A question', description: 'Why?' })),
  ],
  '/api/automation/sessions/:id': [
    owned('POST /automation/sessions', () => ({ modelId: 'sandbox/echo' })),
  ],
  '/api/automation/templates/:id': [
    owned('POST /automation/templates', () => ({
      name: unusedName('template'),
      systemPrompt: 'You help.',
    })),
  ],
  '/api/organizations/:id/invitations/:inv_id': [
    {
      async make(stage) {
        const email = `${unusedName('guest')}@example.com`
        const { organization, invitation } = await invite(stage, email)
        const { owner, id, member } = organization
        return { owner, ids: [id, invitation], viewer: await member('viewer') }
      },
    },
  ],
  '/api/organizations/invitations/:inv_id': [
    {
      async make(stage) {
        const owner = await stage.somebody()
        const { invitation } = await invite(stage, await addressOf(stage, owner))
        return { owner, ids: [invitation] }
      },
    },
  ],
}
