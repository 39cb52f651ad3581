import { describe, expect, test } from 'bun:test'
import { readPages, tableOf } from '../../docs/pages'
import { readConfig } from '../../../server/src/platform/config/config'
import { variableNames } from '../../../server/src/platform/config/settings'
import { providers } from '../../../server/src/providers/registry'
import {
  readCompose,
  readPackageFile,
  renderComposeEnvironment,
  renderPodEnvironment,
  renderUnitEnvironment,
  type Variables,
} from './render'

const pages = await readPages()
const page = pages.find(({ path }) => path === 'docs/operate/configuration.md')
if (!page) throw new Error('there is no docs/operate/configuration.md')
const firstCells = (heading: string, cell: number) =>
  tableOf(page, heading).flatMap((cells) => [
    ...(cells[cell] ?? '').matchAll(/`([A-Z][A-Z0-9_]+)`/g),
  ])

/** Every variable that docs/operate/configuration.md has, and the address of every provider. */
const settings = [
  ...variableNames,
  ...[...firstCells('### Read under other names', 0), ...firstCells('## Keys of providers', 1)].map(
    ([, name = '']) => name,
  ),
  ...providers.map(({ key }) => `${key.toUpperCase().replaceAll('-', '_')}_BASE_URL`),
]

const write = (variables: Variables) =>
  Object.entries(variables)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')

const values = Object.fromEntries(settings.map((name) => [name, `value-of-${name.toLowerCase()}`]))
const notReaching = (rendered: Variables) =>
  [...new Set(settings)].filter((name) => rendered[name] !== values[name]).toSorted()

test('the page has the settings that the finding names', () => {
  expect(settings.length).toBeGreaterThan(120)
  expect(settings).toEqual(
    expect.arrayContaining(['GROQ_API_KEY', 'SMTP_URL', 'STRIPE_SECRET_KEY', 'GROQ_BASE_URL']),
  )
})

describe('N4: every setting of docs/operate/configuration.md reaches the server', async () => {
  const services = await readCompose()
  const passwords = { POSTGRES_PASSWORD: 'p', VALKEY_PASSWORD: 'v', PUBLISH: '127.0.0.1:9' }
  // The package's own: where its balancer, its scraper and its volumes find a node, and its two servers.
  const ofCompose = [
    'DATABASE_URL',
    'DATA_DIR',
    'HOST',
    'METRICS_HOST',
    'METRICS_PORT',
    'PORT',
    'REDIS_URL',
  ]

  test.each(['node-a', 'node-b'])('from the .env of compose to %s', (name) => {
    const service = services[name]
    if (!service) throw new Error(`there is no ${name}`)
    const rendered = renderComposeEnvironment(service, write({ ...passwords, ...values }))
    expect(notReaching(rendered)).toEqual(ofCompose)
  })

  test('a filled-in .env makes a configuration that starts, and empty values stay unset', async () => {
    const example = await readPackageFile('compose/.env.example')
    const filled = example
      .replace(
        /^ENCRYPTION_KEY=$/m,
        `ENCRYPTION_KEY=${Buffer.from([...Array(32).keys()]).toString('base64')}`,
      )
      .replace(/^(ADMIN_KEY|POSTGRES_PASSWORD|VALKEY_PASSWORD)=$/gm, '$1=0123456789abcdef')
    const service = services['node-a']
    if (!service) throw new Error('there is no node-a')
    const config = readConfig(renderComposeEnvironment(service, `${filled}\nWORKERS=\nSMTP_URL=\n`))
    expect(config).toMatchObject({
      host: '0.0.0.0',
      port: 8080,
      dataDir: '/var/lib/tollgate/data',
      localDiscovery: false,
      trustedProxies: ['172.30.8.0/24'],
      databaseUrl: 'postgres://tollgate:0123456789abcdef@postgres:5432/tollgate',
      telemetry: { listener: { host: '0.0.0.0', port: 9464 } },
    })
  })

  test('from the secret of Kubernetes', async () => {
    const rendered = await renderPodEnvironment(values)
    expect(notReaching(rendered)).toEqual([
      'DATA_DIR',
      'HOST',
      'METRICS_HOST',
      'METRICS_PORT',
      'PORT',
    ])
  })

  test('from the file of the unit', async () => {
    expect(notReaching(await renderUnitEnvironment(write(values)))).toEqual([])
  })
})
