import { sql, type RawBuilder } from 'kysely'
import { logColumns } from '../log-record'
import type { ExportedKind } from '../../platform/db/log-export-schema'

/** A row as a line of JSON; the line is null where it was deleted while it waited. */
export interface ExportedRow {
  id: string | null
  /** Its day in UTC, which is its partition in ClickHouse. */
  day: string | null
  line: string | null
}

const startedAt =
  "to_char(log.started_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') as started_at"
/** The clock of the database, as it reads a row: of two readings the later one has the row as it is now. */
const version = '(extract(epoch from statement_timestamp()) * 1000)::bigint as version'

function toColumn([name, type]: (typeof logColumns)[number]): string {
  if (name === 'started_at') return startedAt
  // Lists of ClickHouse are never null.
  if (name === 'tags') return "coalesce(log.tags, '{}') as tags"
  return type === 'jsonb' ? `log.${name}::text as ${name}` : `log.${name}`
}

/** Sums up the attempts of a log; they begin within their request, so that partitions of other days are skipped. */
const attempts = `
  left join lateral (
    select sum(duration_ms)::bigint as attempts_ms,
      array_agg(distinct connection_id) filter (where connection_id is not null) as connections
    from usage_event
    where request_id = log.id and usage_event.user_id = log.user_id
      and usage_event.started_at between log.started_at - interval '1 minute'
        and log.started_at + interval '1 day'
  ) as attempt on log.id is not null`

const lines: Readonly<Record<ExportedKind, { joins: string; columns: string }>> = {
  log: {
    joins: attempts,
    columns: [
      ...logColumns.map(toColumn),
      "coalesce(attempt.connections, '{}') as attempt_connections",
      'attempt.attempts_ms',
      version,
    ].join(', '),
  },
  body: {
    joins: '',
    columns: `log.id, ${startedAt}, log.user_id, log.request_body, log.response_body, ${version}`,
  },
}

/** Returns the columns of `ExportedRow` for rows `log` of `from`, PostgreSQL writing the JSON. */
export function selectLines(
  kind: ExportedKind,
  { from, others = sql`` }: { from: RawBuilder<unknown>; others?: RawBuilder<unknown> },
): RawBuilder<ExportedRow> {
  const { joins, columns } = lines[kind]
  return sql<ExportedRow>`
    select ${others} log.id, to_char(log.started_at at time zone 'UTC', 'YYYY-MM-DD') as day,
      case when log.id is not null then row_to_json(line)::text end as line
    from ${from} ${sql.raw(joins)}
    cross join lateral (select ${sql.raw(columns)}) as line`
}
