import { choiceOf } from './choice'
import { pageOptions, formatRemainder, rowsOf } from './pages'
import { bodyOf, linesOf, UsageError, type Operator } from './server'
import { facts, table } from './table'
import type { Invocation, Group } from './verb'

/** Returns the id of an account, named by its id or its address. */
export async function userIdOf(operator: Operator, idOrAddress = ''): Promise<string> {
  if (!idOrAddress.includes('@')) return idOrAddress
  const query = { search: idOrAddress, limit: 100 }
  const { users } = await bodyOf(operator.GET('/api/admin/users', { params: { query } }))
  const user = users.find(({ email }) => email.toLowerCase() === idOrAddress.toLowerCase())
  if (user) return user.id
  throw new UsageError(`No account has the address ${idOrAddress}.`)
}

const paramsOf = async ({ operator, positionals: [user] }: Invocation) => ({
  path: { id: await userIdOf(operator, user) },
})

const output = (user: object) => ({ text: facts({ ...user }), json: user })

const states = ['active', 'suspended'] as const
const roles = ['operator', 'support', 'finance', 'read_only'] as const

async function list(invocation: Invocation) {
  const { operator, value } = invocation
  const state = value('status')
  const status = state ? choiceOf('status', state, states) : undefined
  const { rows, total } = await rowsOf(invocation, async (page) => {
    const query = { ...page, status }
    const body = await bodyOf(operator.GET('/api/admin/users', { params: { query } }))
    return { rows: body.users, pagination: body.pagination }
  })
  const text = table(rows, [
    ['ID', ({ id }) => id],
    ['ADDRESS', ({ email }) => email],
    ['NAME', ({ display_name }) => display_name],
    ['STATUS', ({ status, blocked }) => (blocked ? 'blocked' : status)],
    ['ROLE', ({ operator_role }) => operator_role],
    ['USD', ({ balance }) => balance.toFixed(2)],
  ])
  return { text: text + formatRemainder(rows.length, total), json: { users: rows, total } }
}

/** The server's own maximum. */
const exportTimeoutMs = 600_000

async function exported(invocation: Invocation) {
  const init = { params: await paramsOf(invocation), parseAs: 'text' } as const
  const text = await bodyOf(invocation.operator.GET('/api/admin/users/{id}/export', init))
  return { text, json: linesOf(text) }
}

/** Accounts. */
export const users: Group = {
  name: 'users',
  about: 'accounts. <user> is an id or an address',
  verbs: {
    list: {
      positionals: [],
      about: 'list accounts',
      options: { status: { value: states.join('|'), about: 'only these' }, ...pageOptions },
      run: list,
    },
    show: {
      positionals: ['user'],
      about: 'show all fields of an account',
      async run(invocation) {
        const params = await paramsOf(invocation)
        return output(await bodyOf(invocation.operator.GET('/api/admin/users/{id}', { params })))
      },
    },
    create: {
      positionals: ['address'],
      about:
        'create an account, and invite its owner by mail; without a mail server: tollgate sign-in-link',
      options: {
        name: { value: 'text', about: 'display name; the address by default' },
        plan: { value: 'id', about: 'its plan' },
        operator: { about: 'grant operator permissions' },
        role: { value: roles.join('|'), about: 'its role of operators, in place of --operator' },
      },
      async run({ operator, positionals: [email = ''], value, has }) {
        const role = value('role')
        const body = {
          email,
          display_name: value('name'),
          plan_id: value('plan'),
          ...(role === undefined
            ? { is_operator: has('operator') }
            : { operator_role: choiceOf('role', role, roles) }),
        }
        return output(await bodyOf(operator.POST('/api/admin/users', { body })))
      },
    },
    disable: {
      positionals: ['user'],
      about: 'suspend an account: its keys and sessions are rejected at once',
      options: { reason: { value: 'text', about: 'the reason, for the audit log' } },
      async run(invocation) {
        const params = await paramsOf(invocation)
        const body = { reason: invocation.value('reason') ?? 'Suspended from the command line.' }
        const answer = invocation.operator.POST('/api/admin/users/{id}/suspend', { params, body })
        return output(await bodyOf(answer))
      },
    },
    enable: {
      positionals: ['user'],
      about: 'reinstate a suspended account',
      async run(invocation) {
        const params = await paramsOf(invocation)
        const answer = invocation.operator.POST('/api/admin/users/{id}/reinstate', { params })
        return output(await bodyOf(answer))
      },
    },
    export: {
      positionals: ['user'],
      about: 'export everything an account owns, as JSON lines; no secrets',
      timeoutMs: exportTimeoutMs,
      run: exported,
    },
    delete: {
      positionals: ['user'],
      about: 'erase an account; its payments and usage stay in the ledger, anonymized',
      options: { yes: { about: 'skip the confirmation' } },
      async run(invocation) {
        await invocation.confirm(`Erase ${invocation.positionals[0]} for good?`)
        const params = await paramsOf(invocation)
        return output(await bodyOf(invocation.operator.DELETE('/api/admin/users/{id}', { params })))
      },
    },
  },
}
