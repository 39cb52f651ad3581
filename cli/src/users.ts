import { pageOptions, rest, rowsOf } from './pages'
import { json, linesOf, UsageError, type Operator } from './server'
import { facts, table } from './table'
import type { Asked, Group } from './verb'

/** The id of an account that was named by it or by its address. */
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

/** As long as the server takes at most. */
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
  about: 'accounts. A <user> is an id or an address',
  verbs: {
    list: {
      words: [],
      about: 'list accounts',
      options: { status: { value: 'active|suspended', about: 'only these' }, ...pageOptions },
      run: list,
    },
    show: {
      words: ['user'],
      about: 'all that is known of an account',
      run: async (asked) =>
        shown(await (await asked.operator.users[':id'].$get(await one(asked))).json()),
    },
    create: {
      words: ['address'],
      about: 'make an account, and tell its owner by mail how to get in',
      options: {
        name: { value: 'text', about: 'how it is called, otherwise by its address' },
        plan: { value: 'id', about: 'its plan' },
        operator: { about: 'may operate this Tollgate' },
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
      about: 'suspend an account: its keys and sessions are refused at once',
      options: { reason: { value: 'text', about: 'why, for the audit trail' } },
      async run(asked) {
        const reason = asked.value('reason') ?? 'Suspended by the command line.'
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
      about: 'all that an account owns, as JSON lines; no secrets',
      run: exported,
    },
    delete: {
      words: ['user'],
      about: 'erase an account; what it paid and used stays in the ledger, without a name',
      options: { yes: { about: 'do not ask' } },
      async run(asked) {
        await asked.confirm(`Erase ${asked.words[0]} for good?`)
        const answer = await asked.operator.users[':id'].$delete(await one(asked))
        return shown(await answer.json())
      },
    },
  },
}
