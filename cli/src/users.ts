import { pageOptions, rest, rowsOf } from './pages'
import { json, linesOf, UsageError, type Operator } from './server'
import { facts, table } from './table'
import type { Asked, Group } from './verb'

/** Returns the id of an account, named by its id or its address. */
export async function userIdOf(operator: Operator, word = ''): Promise<string> {
  if (!word.includes('@')) return word
  const query = { search: word, limit: '100' }
  const { users } = await (await operator.users.$get({ query })).json()
  const found = users.find(({ email }) => email.toLowerCase() === word.toLowerCase())
  if (found) return found.id
  throw new UsageError(`No account has the address ${word}.`)
}

const one = async ({ operator, words: [user] }: Asked) => ({
  param: { id: await userIdOf(operator, user) },
})

const shown = (user: object) => ({ text: facts({ ...user }), json: user })

async function list(asked: Asked) {
  const { operator, value } = asked
  const { rows, total } = await rowsOf(asked, async (query) => {
    const status = value('status')
    const answer = await operator.users.$get({ query: { ...query, ...(status && { status }) } })
    const { users, pagination } = await answer.json()
    return { rows: users, pagination }
  })
  const text = table(rows, [
    ['ID', ({ id }) => id],
    ['ADDRESS', ({ email }) => email],
    ['NAME', ({ display_name }) => display_name],
    ['STATUS', ({ status, blocked }) => (blocked ? 'blocked' : status)],
    ['OPERATOR', ({ is_operator }) => is_operator],
    ['USD', ({ balance }) => balance.toFixed(2)],
  ])
  return { text: text + rest(rows.length, total), json: { users: rows, total } }
}

/** The server's own maximum. */
const exportMs = 600_000

async function exported(asked: Asked) {
  const init = { signal: AbortSignal.timeout(exportMs) }
  const response = await asked.operator.users[':id'].export.$get(await one(asked), { init })
  const text = await response.text()
  return { text, json: linesOf(text) }
}

/** Accounts. */
export const users: Group = {
  name: 'users',
  about: 'accounts. <user> is an id or an address',
  verbs: {
    list: {
      words: [],
      about: 'list accounts',
      options: { status: { value: 'active|suspended', about: 'only these' }, ...pageOptions },
      run: list,
    },
    show: {
      words: ['user'],
      about: 'show all fields of an account',
      run: async (asked) =>
        shown(await (await asked.operator.users[':id'].$get(await one(asked))).json()),
    },
    create: {
      words: ['address'],
      about: 'create an account, and invite its owner by mail',
      options: {
        name: { value: 'text', about: 'display name; the address by default' },
        plan: { value: 'id', about: 'its plan' },
        operator: { about: 'grant operator permissions' },
      },
      async run({ operator, words: [email], value, has }) {
        const body = {
          email,
          ...(value('name') !== undefined && { display_name: value('name') }),
          ...(value('plan') !== undefined && { plan_id: value('plan') }),
          is_operator: has('operator'),
        }
        return shown(await (await operator.users.$post({}, json(body))).json())
      },
    },
    disable: {
      words: ['user'],
      about: 'suspend an account: its keys and sessions are rejected at once',
      options: { reason: { value: 'text', about: 'the reason, for the audit log' } },
      async run(asked) {
        const reason = asked.value('reason') ?? 'Suspended from the command line.'
        const answer = asked.operator.users[':id'].suspend.$post(await one(asked), json({ reason }))
        return shown(await (await answer).json())
      },
    },
    enable: {
      words: ['user'],
      about: 'reinstate a suspended account',
      run: async (asked) =>
        shown(await (await asked.operator.users[':id'].reinstate.$post(await one(asked))).json()),
    },
    export: {
      words: ['user'],
      about: 'export everything an account owns, as JSON lines; no secrets',
      run: exported,
    },
    delete: {
      words: ['user'],
      about: 'erase an account; its payments and usage stay in the ledger, anonymized',
      options: { yes: { about: 'skip the confirmation' } },
      async run(asked) {
        await asked.confirm(`Erase ${asked.words[0]} for good?`)
        const answer = await asked.operator.users[':id'].$delete(await one(asked))
        return shown(await answer.json())
      },
    },
  },
}
