import {
  answerWithTools,
  helloWithTools,
  makeGateway,
  makeProvider,
  startAgent,
} from './self-hosted'
import type { SignedIn } from './signed-in'
import type { Json } from '../harness/http'

export type Make = (path: string, body: Json) => Promise<string>

/** Makes something by the account's session. Resolves with its id; throws where it was refused. */
export const maker =
  ({ account }: SignedIn): Make =>
  async (path, body) => {
    const { status, body: made } = await account.send(`POST /api${path}`, body)
    if (status !== 200 && status !== 201) throw new Error(`${path}: ${JSON.stringify(made)}`)
    return String(made['id'])
  }

/** Gives an account something on every page. Resolves with pages of single things, by name. */
export async function fill(dashboard: SignedIn): Promise<Record<string, string>> {
  const make = maker(dashboard)
  await credit(dashboard)
  return {
    ...(await routing(make)),
    ...(await own(dashboard, make)),
    ...(await shared(dashboard, make)),
    ...(await traffic(dashboard, make)),
    ...(await selfHosted(dashboard, make)),
    'playground-two': '/playground?model=sandbox%2Fecho&other=sandbox%2Florem',
    model: '/models?model=sandbox%2Fecho',
    'ticket-new': '/support?new=true',
    'prompt-new': '/prompts?prompt=new',
    'quota-increase': '/quota?increase=requests_per_minute',
  }
}

async function credit({ gateway, sql }: SignedIn) {
  const [{ id: user_id }] = await sql`select id from users where email = 'ada@example.com'`
  await gateway.admin('POST', '/credits/grant', { user_id, amount: 25, reason: 'Welcome' })
  await gateway.admin('POST', '/scim-directories', { name: 'Okta', domains: ['example.com'] })
  await gateway.admin('POST', '/models', {
    id: 'sandbox/priced',
    name: 'Priced',
    upstream_model: 'lorem',
    category: 'chat',
    pricing: { input: 1000, output: 4000 },
  })
}

async function routing(make: Make) {
  await make('/connections', { name: 'Work', provider: 'openai', api_key: 'sk-0123456789abcdef' })
  await make('/connections', { name: 'Home', provider: 'anthropic', api_key: 'sk-ant-0123456789' })
  const collection = await make('/user/model-collections', {
    name: 'fast',
    display_name: 'Fast answers',
    description: 'Whatever answers first.',
    members: ['sandbox/echo', 'sandbox/lorem'],
  })
  await make('/user/model-mappings', { source_pattern: 'gpt-*', target_model: 'sandbox/echo' })
  return { collection: `/collections?collection=${collection}` }
}

const softPercents = { enforcement: 'soft', notify_percents: [50, 100, 150] }

async function own({ account }: SignedIn, make: Make) {
  const limits = { monthly_spend_limit: 20, rate_limit_requests_per_minute: 30 }
  await make('/account/keys', { name: 'Website', ...limits, allowed_models: ['sandbox/*'] })
  const paused = await make('/account/keys', { name: 'Batch jobs' })
  await account.send(`PATCH /api/account/keys/${paused}`, { disabled: true })
  const failing = { name: 'Something fails', type: 'error_rate', threshold: 0, min_requests: 1 }
  const alert = await make('/account/alerts', failing)
  await make('/account/alerts', { name: 'Spending', type: 'cost_threshold', threshold: 10 })
  await account.send(`POST /api/account/alerts/${alert}/test`)
  const address = { kind: 'slack', url: 'https://203.0.112.7/services/T0/B0/x' }
  await make('/account/notification-destinations', { name: 'Channel #operations', ...address })
  const budget = { window: 'month', time_zone: 'Europe/Berlin' }
  await make('/account/budgets', { ...budget, name: 'All spending', amount: 20, ...softPercents })
  await make('/account/budgets', {
    ...budget,
    name: 'Requests',
    unit: 'requests',
    amount: 1000,
    notify_percents: [80, 95],
  })
  const prompt = await make('/user/prompts', {
    title: 'Summary',
    content: 'Sum up {{text}} in {{sentences}} sentences.',
    description: 'For reports',
    category: 'Writing',
    tags: ['daily', 'short'],
  })
  await make('/models/sandbox/echo/ratings', { rating: 4, review: 'It says what I say.' })
  await make('/user/quota/request-increase', {
    quota_type: 'requests_per_minute',
    requested_limit: 6000,
    reason: 'We have many readers.',
  })
  return { alert: `/alerts?open=${alert}`, prompt: `/prompts?prompt=${prompt}` }
}

async function shared({ account, gateway }: SignedIn, make: Make) {
  const name = 'Analytical Engines'
  const id = await make('/organizations', { name, description: 'Machines that calculate.' })
  const email = 'grace@example.com'
  await make(`/organizations/${id}/members/invite`, { email, role: 'developer' })
  const monthly = { name: 'All members', amount: 500, window: 'month' }
  await make(`/organizations/${id}/budgets`, { ...monthly, ...softPercents })
  await account.send(`PUT /api/organizations/${id}`, {
    monthly_spend_limit: 250,
    auto_approve_domains: ['engines.example', 'calculators.example'],
  })
  const ticket = await make('/support/tickets', {
    subject: 'The answer stops half-way',
    description: 'Since this morning long answers end in the middle of a sentence.',
    category: 'technical',
  })
  const content = 'Thank you, we look into it.'
  await gateway.admin('POST', `/tickets/${ticket}/comments`, { content })
  return {
    organization: `/organizations/${id}`,
    'organization-invitations': `/organizations/${id}?tab=invitations`,
    'organization-usage': `/organizations/${id}?tab=usage`,
    'organization-budgets': `/organizations/${id}?tab=budgets`,
    'organization-limits': `/organizations/${id}?tab=limits`,
    'organization-trail': `/organizations/${id}?tab=trail`,
    ticket: `/support/${ticket}`,
  }
}

async function traffic({ account, call }: SignedIn, make: Make) {
  const models = ['sandbox/priced', 'sandbox/echo', 'sandbox/lorem', 'nobody/nothing']
  for (const model of [...models, ...models]) await call(model, 'Say something about bridges.')
  const request = await call('sandbox/priced')
  const failed = await call('sandbox/nothing')
  const talk = await make('/automation/sessions', { modelId: 'sandbox/echo', name: 'Bridges' })
  const promptFields = {
    content: '# Bridges\n\nA **list**:\n\n- one\n- two\n\n```js\nlet a = 1\n```',
  }
  await account.send(`POST /api/automation/sessions/${talk}/messages`, promptFields)
  return {
    'playground-talk': `/playground?chat=${talk}`,
    log: `/logs?open=${request}`,
    'log-failed': `/logs?open=${failed}`,
  }
}

/** A gateway whose program is there until the end, one that never came, and a session with tools. */
async function selfHosted(dashboard: SignedIn, make: Make) {
  await makeProvider(dashboard)
  const made = await makeGateway(dashboard, { name: 'The machine under the desk' })
  const models = ['mine', 'qwen3-coder:30b-a3b-instruct-q4_K_M'].concat(
    Array.from({ length: 10 }, (_none, at) => `small-${at}`),
  )
  const agent = await startAgent(made, {
    ...helloWithTools,
    models: models.map((name) => ({ provider: 'fake', name })),
  })
  const [{ id: connection }] = await dashboard.sql`
    select id from connection where gateway_id = ${made.id}`
  await dashboard.account.send(`PUT /api/connections/${connection}/models/pricing`, {
    model: 'fake/mine',
    pricing: { input: 0.5, output: 1.5, cached_input: 0.05 },
  })
  const { id: waiting } = await makeGateway(dashboard, { name: 'Cellar' })
  await dashboard.call('fake/mine')
  agent.answer = (request) => agent.fail(request, 'connection_failed')
  await dashboard.call('fake/mine')
  agent.runs = ({ id, name }) =>
    agent.send({
      type: 'tool_result',
      id,
      content: name === 'files_read' ? 'Dear Ada,\nthere are two bridges.' : 'it broke',
      is_error: name !== 'files_read',
    })
  const toolCalls = [
    { name: 'files_read', arguments: { text: 'letter.txt' } },
    { name: 'wiki_search', arguments: { text: 'bridges over the river' } },
  ]
  answerWithTools(agent, toolCalls, 'The letter says that there are **two** bridges.')
  const session = await make('/automation/sessions', {
    modelId: 'fake/mine',
    name: 'Errands',
    sessionType: 'automation',
    gatewayId: made.id,
  })
  const message = { content: 'How many bridges are there?', stream: true }
  await dashboard.account.send(`POST /api/automation/sessions/${session}/messages`, message)
  return {
    gateway: `/gateways/${made.id}`,
    'gateway-connection': `/connections/${connection}`,
    'gateway-waiting': `/gateways/${waiting}`,
    'session-tools': `/sessions/${session}`,
  }
}
