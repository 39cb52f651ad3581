import { parseInteger } from './number'
import { pageOptions, formatRemainder, rowsOf } from './pages'
import { bodyOf, CallFailed } from './server'
import { facts, table } from './table'
import type { Invocation, Group } from './verb'

const paramsOf = ({ positionals: [id = ''] }: Invocation) => ({ path: { id } })

const output = (connection: object) => ({ text: facts({ ...connection }), json: connection })

async function list(invocation: Invocation) {
  const { rows, total } = await rowsOf(invocation, async (query) => {
    const answer = await bodyOf(
      invocation.operator.GET('/api/admin/connections', { params: { query } }),
    )
    return { rows: answer.connections, pagination: answer.pagination }
  })
  const text = table(rows, [
    ['ID', ({ id }) => id],
    ['NAME', ({ name }) => name],
    ['PROVIDER', ({ provider }) => provider],
    ['ADDRESS', ({ endpoint_url }) => endpoint_url],
    ['KEY', ({ api_key_prefix }) => api_key_prefix],
    ['STATUS', ({ status }) => status],
    ['PRIORITY', ({ priority }) => priority],
  ])
  return { text: text + formatRemainder(rows.length, total), json: { connections: rows, total } }
}

async function create(invocation: Invocation) {
  const {
    operator,
    positionals: [provider = ''],
    value,
    has,
    secret,
  } = invocation
  // Before the prompt for a key.
  const priority = parseInteger(invocation, 'priority')
  const api_key = has('keyless') ? undefined : await secret(`API key of ${provider}: `)
  const body = {
    provider,
    name: value('name') ?? provider,
    api_key,
    endpoint_url: value('endpoint'),
    priority,
  }
  return output(await bodyOf(operator.POST('/api/admin/connections', { body })))
}

async function test(invocation: Invocation) {
  const params = paramsOf(invocation)
  const result = await bodyOf(
    invocation.operator.POST('/api/admin/connections/{id}/test', { params }),
  )
  if (!result.success) throw new CallFailed(result.message)
  const { message, models_found, latency_ms } = result
  return { text: `${message} ${models_found} models, ${latency_ms} ms.\n`, json: result }
}

async function change(invocation: Invocation, body: { status: 'active' | 'inactive' }) {
  const params = paramsOf(invocation)
  return output(
    await bodyOf(invocation.operator.PUT('/api/admin/connections/{id}', { params, body })),
  )
}

/** The platform's own connections to providers. */
export const connections: Group = {
  name: 'connections',
  about: "the platform's own connections to providers",
  verbs: {
    list: { positionals: [], about: 'list connections', options: pageOptions, run: list },
    create: {
      positionals: ['provider'],
      about: 'connect to a provider. Its key is prompted for, or read from standard input',
      options: {
        name: { value: 'text', about: "display name; the provider's by default" },
        endpoint: { value: 'url', about: "base address, if not the provider's own" },
        priority: { value: 'n', about: 'the lowest is tried first; 100 by default' },
        keyless: { about: 'connect without a key' },
      },
      run: create,
    },
    test: { positionals: ['connection'], about: 'request its list of models', run: test },
    'update-key': {
      positionals: ['connection'],
      about: 'replace its key, which is prompted for, or read from standard input',
      async run(invocation) {
        const params = paramsOf(invocation)
        const body = { api_key: await invocation.secret('New API key: ') }
        const answer = await bodyOf(
          invocation.operator.POST('/api/admin/connections/{id}/update-key', { params, body }),
        )
        return { text: `${answer.message}\n`, json: answer }
      },
    },
    disable: {
      positionals: ['connection'],
      about: 'disable it',
      run: (invocation) => change(invocation, { status: 'inactive' }),
    },
    enable: {
      positionals: ['connection'],
      about: 'enable it',
      run: (invocation) => change(invocation, { status: 'active' }),
    },
    delete: {
      positionals: ['connection'],
      about: 'delete it and its key',
      options: { yes: { about: 'skip the confirmation' } },
      async run(invocation) {
        await invocation.confirm(`Delete the connection ${invocation.positionals[0]}?`)
        const params = paramsOf(invocation)
        const answer = await bodyOf(
          invocation.operator.DELETE('/api/admin/connections/{id}', { params }),
        )
        return { text: `${answer.message}\n`, json: answer }
      },
    },
  },
}
