import type { AuditedRows, Violation, Warnings } from '../ledger/audit'

/** The result of an audit. */
export interface Report {
  violations: readonly Violation[]
  warnings: Warnings
  counts: AuditedRows
}

/** Formats nano-dollars as USD to the last digit: a ledger may be wrong by one. */
function usd(nanos: bigint): string {
  const digits = String(nanos < 0n ? -nanos : nanos).padStart(10, '0')
  return `${nanos < 0n ? '-' : ''}${digits.slice(0, -9)}.${digits.slice(-9)}`
}

function lineOf({ invariant, check, accountId, ref, message, ...amounts }: Violation): string {
  const of = [accountId ?? 'no account', ...(ref === accountId ? [] : [ref])].join(' ')
  const { expected, found } = amounts
  if (expected === null || found === null) return `${invariant} ${check} ${of}: ${message}`
  const difference = `must be ${usd(expected)} USD, is ${usd(found)} USD`
  return `${invariant} ${check} ${of}: ${message}: ${difference}`
}

function warningLines({ idle, orphans }: Warnings): string[] {
  const lines = idle.map(
    ({ leaseId, accountId, unspent }) =>
      `warning I3 ${accountId} ${leaseId}: ${usd(unspent)} USD are set aside, and no request has ` +
      'used it for a long time',
  )
  return orphans === 0n
    ? lines
    : [...lines, `warning I8: ${orphans} attempts of dead processes, older than a day, unresolved`]
}

/** Formats a report as text: a line each for violations and warnings, and one with the number of checked rows. */
export function formatAsText({ violations, warnings, counts }: Report): string {
  const { accounts, transactions, entries, leases, events, writtenOff } = counts
  const verdict = violations.length === 0 ? 'in order' : `${violations.length} violations`
  const summary =
    `${verdict}: ${accounts} accounts, ${transactions} transactions, ${entries} entries, ` +
    `${leases} leases, ${events} events; ${usd(writtenOff)} USD written off`
  return [...violations.map(lineOf), ...warningLines(warnings), summary, ''].join('\n')
}

/** Formats a report as JSON; amounts in USD are strings, as numbers would lose the last digits. */
export function formatAsJson({ violations, warnings, counts }: Report): string {
  const { writtenOff, ...checked } = counts
  return `${JSON.stringify({
    violations: violations.map(({ accountId, expected, found, ...rest }) => ({
      ...rest,
      account_id: accountId,
      expected_usd: expected === null ? null : usd(expected),
      found_usd: found === null ? null : usd(found),
    })),
    warnings: {
      idle_leases: warnings.idle.map(({ leaseId, accountId, unspent }) => ({
        lease_id: leaseId,
        account_id: accountId,
        unspent_usd: usd(unspent),
      })),
      unresolved_orphans: Number(warnings.orphans),
    },
    checked: Object.fromEntries(
      Object.entries(checked).map(([name, number]) => [name, Number(number)]),
    ),
    written_off_usd: usd(writtenOff),
  })}\n`
}
