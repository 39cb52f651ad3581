// Takes a picture of every page, light and dark, on a desk and on a phone.
// Run as: bun tests/dashboard/screenshots.ts <folder> [pages whose name holds this]
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { fill } from './filled'
import { startSignedIn } from './signed-in'

const [folder, only = ''] = process.argv.slice(2)
if (!folder) throw new Error('name the folder to write to')

const sizes = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } }
const schemes = ['light', 'dark'] as const

await mkdir(folder, { recursive: true })
await using dashboard = await startSignedIn()

async function take(page: Page, name: string) {
  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport)
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.waitForLoadState('networkidle')
      await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
      const path = join(folder ?? '', `${name}-${size}-${colorScheme}.png`)
      // What slides or fades is taken where it comes to rest.
      await page.screenshot({ path, animations: 'disabled' })
    }
  }
}

/** Pages by the name of their picture. */
async function takeAll(
  pages: Readonly<Record<string, string>>,
  open: (path: string) => Promise<Page>,
) {
  for (const [name, path] of Object.entries(pages)) {
    if (!name.includes(only)) continue
    const page = await open(path)
    await page.getByRole('heading').first().waitFor()
    await take(page, name)
    await page.close()
  }
}

const stranger = await dashboard.stranger()
await takeAll(
  {
    'sign-in': '/sign-in',
    'sign-up': '/sign-up',
    'forgot-password': '/forgot-password',
    'reset-password': '/reset-password?token=x',
    'reset-password-over': '/reset-password',
  },
  async (path) => {
    const page = await stranger.newPage()
    await page.goto(`${dashboard.address}${path}`)
    return page
  },
)

const pages = {
  overview: '/',
  playground: '/playground',
  models: '/models',
  'models-compare': '/models/compare?models=["sandbox/echo","sandbox/lorem","sandbox/priced"]',
  logs: '/logs',
  usage: '/usage',
  explorer: '/explorer?split=key',
  sessions: '/sessions',
  connections: '/connections',
  pools: '/pools',
  gateways: '/gateways',
  collections: '/collections',
  mappings: '/mappings',
  keys: '/keys',
  billing: '/billing',
  quota: '/quota',
  budgets: '/budgets',
  alerts: '/alerts',
  inbox: '/inbox',
  organizations: '/organizations',
  support: '/support',
  prompts: '/prompts',
  templates: '/templates',
  settings: '/settings',
  security: '/settings/security',
  'not-found': '/no/such/page',
}
const empty = Object.entries(pages).map(([name, path]) => [`${name}-empty`, path])
await takeAll(Object.fromEntries(empty), dashboard.open)
const details = await fill(dashboard)
await takeAll({ ...pages, ...details }, dashboard.open)

await dashboard.operate()
const { user, organization, ticket, change, request } = await operated()
await takeAll(
  {
    ...Object.fromEntries(
      [
        'overview',
        'explorer',
        'users',
        'organizations',
        'transactions',
        'plans',
        'requests',
        'quota-requests',
        'tickets',
      ]
        .concat(['providers', 'models', 'connections', 'collections'])
        .concat(['branding', 'config', 'audit-trail', 'system'])
        .map((name) => [`operator-${name}`, `/operator/${name}`]),
    ),
    'operator-user': `/operator/users/${user}`,
    'operator-user-keys': `/operator/users/${user}?tab=keys`,
    'operator-user-credits': `/operator/users/${user}?tab=credits`,
    'operator-user-limits': `/operator/users/${user}?tab=limits`,
    'operator-organization': `/operator/organizations/${organization}`,
    'operator-ticket': `/operator/tickets/${ticket}`,
    'operator-model': '/operator/models?model=sandbox%2Fpriced',
    'operator-request': `/operator/requests?open=${request}`,
    'operator-change': `/operator/audit-trail?open=${change}`,
  },
  dashboard.open,
)

/** Something on the operators' pages that are empty at first, and the ids of single things. */
async function operated() {
  const { admin } = dashboard.gateway
  await admin('POST', '/connections', { name: 'Shared', provider: 'openai', api_key: 'sk-0123456' })
  await admin('POST', '/providers', {
    key: 'own',
    adapter: 'openai',
    name: 'Our own',
    base_url: 'https://models.example.com/v1',
  })
  const [row] = await dashboard.sql`select
    (select id from users where email = 'ada@example.com') as user,
    (select id from organization limit 1) as organization,
    (select id from ticket limit 1) as ticket,
    (select request_id from audit_trail order by id desc limit 1) as change,
    (select id from request_log where status = 'success' order by id desc limit 1) as request`
  return row
}
