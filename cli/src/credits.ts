import { pageOptions, formatRemainder, rowsOf } from './pages'
import { bodyOf, UsageError } from './server'
import { facts, table } from './table'
import type { Invocation, Group, Option } from './verb'
import { userIdOf } from './users'

/** Parses an amount in USD; the server checks its bounds. Throws `UsageError`. */
function amountOf(text = ''): number {
  if (/^-?\d+(\.\d{1,9})?$/.test(text)) return Number(text)
  throw new UsageError(`"${text}" is not an amount in USD, such as 12.50.`)
}

const owner = async ({ operator, positionals: [ownerName = ''] }: Invocation) =>
  ownerName.startsWith('org_')
    ? { organization_id: ownerName }
    : { user_id: await userIdOf(operator, ownerName) }

const reason: Readonly<Record<string, Option>> = {
  reason: { value: 'text', about: 'the reason, shown to the owner in the list of transactions' },
}

async function transferOf(invocation: Invocation, otherwise: string) {
  const amount = amountOf(invocation.positionals[1])
  return { ...(await owner(invocation)), amount, reason: invocation.value('reason') ?? otherwise }
}

async function show(invocation: Invocation) {
  const { operator } = invocation
  const filter = await owner(invocation)
  const { rows, total } = await rowsOf(invocation, async (page) => {
    const query = { ...page, ...filter }
    const body = await bodyOf(operator.GET('/api/admin/transactions', { params: { query } }))
    return { rows: body.transactions, pagination: body.pagination }
  })
  const text = table(rows, [
    ['WHEN', ({ created_at }) => created_at],
    ['TYPE', ({ type }) => type],
    ['STATUS', ({ status }) => status],
    ['USD', ({ amount }) => amount],
    ['BALANCE AFTER', ({ balance_after }) => balance_after],
    ['DESCRIPTION', ({ description }) => description],
  ])
  return { text: text + formatRemainder(rows.length, total), json: { transactions: rows, total } }
}

/** Credits of users and organizations. */
export const credits: Group = {
  name: 'credits',
  about: 'credits of a user or an organization. <who> is an id, or the address of a user',
  verbs: {
    show: {
      positionals: ['who'],
      about: 'list transactions, newest first',
      options: { limit: pageOptions.limit },
      run: show,
    },
    grant: {
      positionals: ['who', 'usd'],
      about: 'give credits',
      options: reason,
      async run(invocation) {
        const body = await transferOf(invocation, 'Granted by the operator.')
        const transaction = await bodyOf(
          invocation.operator.POST('/api/admin/credits/grant', { body }),
        )
        return { text: facts(transaction), json: transaction }
      },
    },
    adjust: {
      positionals: ['who', 'usd'],
      about: 'adjust a balance, up or down. Write -- before a negative amount',
      options: reason,
      async run(invocation) {
        const body = await transferOf(invocation, 'Corrected by the operator.')
        const transaction = await bodyOf(
          invocation.operator.POST('/api/admin/credits/adjust', { body }),
        )
        return { text: facts(transaction), json: transaction }
      },
    },
  },
}
