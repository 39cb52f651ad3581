import { sql, type RawBuilder } from 'kysely'

/**
 * Returns SQL of the start, in UTC, of the minute, quarter of an hour, hour or day that a time lies in, where the column
 * `grain` says which. PostgreSQL truncates to all of these but the quarter of an hour.
 */
export const toGrainStart = (time: string): RawBuilder<Date> => sql`
  case grain
    when 'quarter_hour' then
      date_bin('15 minutes', ${sql.ref(time)}, timestamptz '2000-01-01 00:00:00+00')
    else date_trunc(grain, ${sql.ref(time)}, 'UTC')
  end`
