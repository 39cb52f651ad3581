import { pageOptions, rest, rowsOf } from './pages'
import { json, UsageError } from './server'
import { facts, table } from './table'
import type { Asked, Group, Option } from './verb'
import { userIdOf } from './users'

/** Parses an amount in USD; the server checks its bounds. Throws `UsageError`. */
function amountOf(text = ''): number {
  if (/^-?\d+(\.\d{1,9})?$/.test(text)) return Number(text)
  throw new UsageError(`"${text}" is not an amount in USD, such as 12.50.`)
}

const owner = async ({ operator, words: [whose = ''] }: Asked) =>
  whose.startsWith('org_')
    ? { organization_id: whose }
    : { user_id: await userIdOf(operator, whose) }

const reason: Readonly<Record<string, Option>> = {
  reason: { value: 'text', about: 'the reason, shown to the owner in the list of transactions' },
}

async function bodyOf(asked: Asked, otherwise: string) {
  const amount = amountOf(asked.words[1])
  return { ...(await owner(asked)), amount, reason: asked.value('reason') ?? otherwise }
}

async function show(asked: Asked) {
  const { operator } = asked
  const query = await owner(asked)
  const { rows, total } = await rowsOf(asked, async (page) => {
    const answer = await operator.transactions.$get({ query: { ...page, ...query } })
    const { transactions, pagination } = await answer.json()
    return { rows: transactions, pagination }
  })
  const text = table(rows, [
    ['WHEN', ({ created_at }) => created_at],
    ['TYPE', ({ type }) => type],
    ['STATUS', ({ status }) => status],
    ['USD', ({ amount }) => amount],
    ['BALANCE AFTER', ({ balance_after }) => balance_after],
    ['DESCRIPTION', ({ description }) => description],
  ])
  return { text: text + rest(rows.length, total), json: { transactions: rows, total } }
}

/** Credits of users and organizations. */
export const credits: Group = {
  name: 'credits',
  about: 'credits of a user or an organization. <who> is an id, or the address of a user',
  verbs: {
    show: {
      words: ['who'],
      about: 'list transactions, newest first',
      options: { limit: pageOptions.limit },
      run: show,
    },
    grant: {
      words: ['who', 'usd'],
      about: 'give credits',
      options: reason,
      async run(asked) {
        const body = json(await bodyOf(asked, 'Granted by the operator.'))
        const moved = await (await asked.operator.credits.grant.$post({}, body)).json()
        return { text: facts(moved), json: moved }
      },
    },
    adjust: {
      words: ['who', 'usd'],
      about: 'adjust a balance, up or down. Write -- before a negative amount',
      options: reason,
      async run(asked) {
        const body = json(await bodyOf(asked, 'Corrected by the operator.'))
        const moved = await (await asked.operator.credits.adjust.$post({}, body)).json()
        return { text: facts(moved), json: moved }
      },
    },
  },
}
