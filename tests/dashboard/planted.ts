import { maker, type Make } from './filled'
import { corpus } from './script-corpus'
import type { SignedIn } from './signed-in'
import type { Upstream } from '../harness/byok'

/** Cut to what a field takes. */
const all = (maxLength: number) => corpus.join(' ').slice(0, maxLength)

/**
 * Fills every field of an account that takes a text with the corpus, whole or one text after the
 * other. Resolves with the paths of all pages that show some of it.
 */
export async function plantScripts(dashboard: SignedIn, upstream: Upstream): Promise<string[]> {
  const make = maker(dashboard)
  const alerts: string[] = []
  const tickets: string[] = []
  const prompts: string[] = []
  const collections: string[] = []
  for (const [index, text] of corpus.entries()) {
    const alert = { name: text, description: text, type: 'error_rate', threshold: 0 }
    alerts.push(await make('/account/alerts', { ...alert, min_requests: 1 }))
    const address = { kind: 'slack', url: 'https://203.0.112.7/services/T0/B0/x' }
    const destination = { name: text.slice(0, 100), ...address }
    await make('/account/notification-destinations', destination)
    tickets.push(await make('/support/tickets', { subject: text, description: all(10_000) }))
    const tags = [text.slice(0, 50)]
    const about = { description: text, category: text.slice(0, 50), tags }
    prompts.push(await make('/user/prompts', { title: text, content: all(20_000), ...about }))
    const titled = { name: `c${index}`, display_name: text, description: all(1000) }
    collections.push(await make('/user/model-collections', titled))
    await make('/account/keys', { name: text.slice(0, 100) })
    const session = { modelId: 'sandbox/echo', name: text, systemPrompt: all(20_000) }
    await make('/automation/sessions', session)
    await make('/user/model-mappings', {
      source_pattern: text,
      target_model: 'sandbox/echo',
      description: text,
    })
  }
  const organization = await ownOrganization(make)
  await others(dashboard, make, tickets[0] ?? '')
  const requests = await traffic(dashboard, make, upstream)
  return [
    '/keys',
    '/alerts',
    '/inbox',
    '/support',
    '/mappings',
    '/collections',
    '/prompts',
    '/connections',
    '/organizations',
    '/settings',
    '/quota',
    '/billing',
    '/logs',
    '/settings/security',
    '/models?model=sandbox%2Fecho',
    `/organizations/${organization}`,
    `/organizations/${organization}?tab=invitations`,
    `/organizations/${organization}?tab=limits`,
    `/organizations/${organization}?tab=trail`,
    ...requests.map((id) => `/logs?open=${id}`),
    ...alerts.slice(0, 1).map((id) => `/alerts?open=${id}`),
    ...tickets.slice(0, 1).map((id) => `/support/${id}`),
    ...prompts.slice(0, 1).map((id) => `/prompts?prompt=${id}`),
    ...collections.slice(0, 1).map((id) => `/collections?collection=${id}`),
  ]
}

async function ownOrganization(make: Make): Promise<string> {
  const [name] = corpus
  const id = await make('/organizations', { name, description: all(1000) })
  const email = 'guest@example.com'
  await make(`/organizations/${id}/members/invite`, { email, role: 'member', message: all(500) })
  return id
}

/** What operators write, and what people write of themselves. */
async function others({ account, gateway, sql }: SignedIn, make: Make, ticket: string) {
  const [{ id: user_id }] = await sql`select id from users where email = 'ada@example.com'`
  await account.send('PUT /api/account/settings', { display_name: corpus[1] })
  await make('/models/sandbox/echo/ratings', { rating: 1, review: all(2000) })
  await make('/user/quota/request-increase', {
    quota_type: 'requests_per_minute',
    requested_limit: 100_000,
    reason: all(2000),
  })
  const { quota_requests: quotaRequests } = await gateway.admin('GET', '/quota-requests')
  const [{ id }] = Array.isArray(quotaRequests) ? quotaRequests : [{ id: '' }]
  await gateway.admin('POST', `/quota-requests/${id}/reject`, { note: all(1000) })
  await gateway.admin('POST', `/tickets/${ticket}/comments`, { content: all(10_000) })
  await gateway.admin('POST', '/credits/grant', { user_id, amount: 5, reason: all(500) })
  // A browser that calls itself so.
  await account.send(
    'POST /api/auth/sign-in/email',
    { email: 'ada@example.com', password: 'a long enough password' },
    { 'user-agent': all(300) },
  )
}

/** Requests that are about it from end to end. Resolves with the ids of some. */
async function traffic({ account, gateway }: SignedIn, make: Make, upstream: Upstream) {
  upstream.answer = () => Response.json({ error: { message: all(2000) } }, { status: 401 })
  for (const name of corpus.slice(0, 3)) {
    const connection = { name, provider: 'openai', api_key: 'sk-mine-0123456789' }
    const id = await make('/connections', { ...connection, endpoint_url: upstream.url })
    await account.send(`POST /api/connections/${id}/test`)
  }
  const { body } = await account.send('POST /api/account/keys', { name: 'Caller' })
  const ids: string[] = []
  for (const model of ['openai/gpt-4o-mini', 'sandbox/echo', corpus[0]]) {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${String(body['key'])}`,
        'content-type': 'application/json',
        'user-agent': all(200),
      },
      body: JSON.stringify({
        model,
        messages: [{ role: 'user', content: all(5000) }],
        user: all(100),
        metadata: { note: all(400) },
      }),
    })
    await response.text()
    ids.push(response.headers.get('x-request-id') ?? '')
  }
  return ids
}
