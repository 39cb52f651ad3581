import { wholeNumber } from './number'
import { pageOptions, rest, rowsOf } from './pages'
import { json, Refused } from './server'
import { facts, table } from './table'
import type { Asked, Group } from './verb'

const one = ({ words: [id = ''] }: Asked) => ({ param: { id } })

async function list(asked: Asked) {
  const { rows, total } = await rowsOf(asked, async (query) => {
    const answer = await (await asked.operator.connections.$get({ query })).json()
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
  return { text: text + rest(rows.length, total), json: { connections: rows, total } }
}

async function create(asked: Asked) {
  const {
    operator,
    words: [provider = ''],
    value,
    has,
    secret,
  } = asked
  // Before the prompt for a key.
  const priority = wholeNumber(asked, 'priority')
  const api_key = has('keyless') ? undefined : await secret(`API key of ${provider}: `)
  const body = {
    provider,
    name: value('name') ?? provider,
    api_key,
    endpoint_url: value('endpoint'),
    priority,
  }
  const connection = await (await operator.connections.$post({}, json(body))).json()
  return { text: facts({ ...connection }), json: connection }
}

async function test(asked: Asked) {
  const told = await (await asked.operator.connections[':id'].test.$post(one(asked))).json()
  if (!told.success) throw new Refused(told.message)
  return {
    text: `${told.message} ${told.models_found} models, ${told.latency_ms} ms.\n`,
    json: told,
  }
}

async function change(asked: Asked, fields: object) {
  const answer = await asked.operator.connections[':id'].$put(one(asked), json(fields))
  const connection = await answer.json()
  return { text: facts({ ...connection }), json: connection }
}

/** The platform's own connections to providers. */
export const connections: Group = {
  name: 'connections',
  about: "the platform's own connections to providers",
  verbs: {
    list: { words: [], about: 'list connections', options: pageOptions, run: list },
    create: {
      words: ['provider'],
      about: 'connect to a provider. Its key is prompted for, or read from standard input',
      options: {
        name: { value: 'text', about: "display name; the provider's by default" },
        endpoint: { value: 'url', about: "base address, if not the provider's own" },
        priority: { value: 'n', about: 'the lowest is tried first; 100 by default' },
        keyless: { about: 'connect without a key' },
      },
      run: create,
    },
    test: { words: ['connection'], about: 'request its list of models', run: test },
    'update-key': {
      words: ['connection'],
      about: 'replace its key, which is prompted for, or read from standard input',
      async run(asked) {
        const api_key = await asked.secret('New API key: ')
        const path = asked.operator.connections[':id']['update-key']
        const told = await (await path.$post(one(asked), json({ api_key }))).json()
        return { text: `${told.message}\n`, json: told }
      },
    },
    disable: {
      words: ['connection'],
      about: 'disable it',
      run: (asked) => change(asked, { status: 'inactive' }),
    },
    enable: {
      words: ['connection'],
      about: 'enable it',
      run: (asked) => change(asked, { status: 'active' }),
    },
    delete: {
      words: ['connection'],
      about: 'delete it and its key',
      options: { yes: { about: 'skip the confirmation' } },
      async run(asked) {
        await asked.confirm(`Delete the connection ${asked.words[0]}?`)
        const told = await (await asked.operator.connections[':id'].$delete(one(asked))).json()
        return { text: `${told.message}\n`, json: told }
      },
    },
  },
}
