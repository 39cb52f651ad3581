import { sumModels, type MonthStatement, type StatementLine } from './statement'
import { statementLineTypes, type BillingStatement } from './statement-schema'
import type { ModelUsage } from './statement-sources'
import { toCsvLine } from '../../../http/csv'
import { toTimestamp } from '../../../http/fields'
import { formatSignedUsd, toUsd } from '../../../wire/usd'

/** The most models that a day lists. */
const maxModels = 50

/** Converts a statement to the form of the API. */
export function toStatement(statement: MonthStatement): BillingStatement {
  const { opening, closing, lines, uncharged, ...rest } = statement
  return {
    ...rest,
    currency: 'USD',
    opening_balance: toUsd(opening),
    closing_balance: toUsd(closing),
    totals: totalsOf(lines),
    lines: lines.map(toLine),
    uncharged_requests: Number(uncharged),
  }
}

function totalsOf(lines: readonly StatementLine[]): BillingStatement['totals'] {
  const totals = { purchase: 0, bonus: 0, refund: 0, dispute: 0, adjustment: 0, earnings: 0 }
  const all: BillingStatement['totals'] = { ...totals, usage: 0 }
  for (const type of statementLineTypes) {
    const amounts = lines.filter((line) => line.type === type).map(({ amount }) => amount)
    all[type] = toUsd(amounts.reduce((sum, amount) => sum + amount, 0n))
  }
  return all
}

const toLine = (line: StatementLine): BillingStatement['lines'][number] => ({
  type: line.type,
  date: line.date,
  at: line.at && toTimestamp(line.at),
  description: line.description,
  transaction_id: line.transactionId,
  reference_id: line.referenceId,
  amount: toUsd(line.amount),
  balance_after: toUsd(line.balance),
  usage: line.usage && toUsage(line.usage),
})

type Figures = Pick<ModelUsage, 'requests' | 'input' | 'output'>

const toFigures = ({ requests, input, output }: Figures) => ({
  requests: Number(requests),
  input_tokens: Number(input),
  output_tokens: Number(output),
})

function toUsage({ models, ...sums }: Figures & { models: readonly ModelUsage[] }) {
  const others = models.slice(maxModels)
  const otherSums = sumModels(others)
  return {
    ...toFigures(sums),
    models: models.slice(0, maxModels).map(({ model, cost, ...figures }) => ({
      model,
      ...toFigures(figures),
      cost: toUsd(cost),
    })),
    other_models:
      others.length === 0
        ? null
        : { models: others.length, ...toFigures(otherSums), cost: toUsd(otherSums.cost) },
  }
}

const columns = [
  'date',
  'time',
  'type',
  'description',
  'requests',
  'input_tokens',
  'output_tokens',
  'amount',
  'balance_after',
  'transaction_id',
  'reference_id',
] as const

type Row = Partial<Record<(typeof columns)[number], string | number | null>>

const toCsvRow = (row: Row) => toCsvLine(columns.map((column) => row[column] ?? null))

/** Writes a statement as lines of CSV, the opening and the closing balance included; amounts have all of their digits. */
export function* toStatementCsv(statement: MonthStatement): Generator<string> {
  const { opening, closing, lines, period } = statement
  yield toCsvLine(columns)
  yield toCsvRow({
    time: period.start,
    type: 'opening_balance',
    balance_after: formatSignedUsd(opening),
  })
  for (const line of lines) {
    yield toCsvRow({
      date: line.date,
      time: line.at && toTimestamp(line.at),
      type: line.type,
      description: line.description,
      ...(line.usage && toFigures(line.usage)),
      amount: formatSignedUsd(line.amount),
      balance_after: formatSignedUsd(line.balance),
      transaction_id: line.transactionId,
      reference_id: line.referenceId,
    })
  }
  yield toCsvRow({
    time: statement.in_progress ? null : period.end,
    type: 'closing_balance',
    balance_after: formatSignedUsd(closing),
  })
}
