import { sql } from 'kysely'
import type { BreakdownSource } from './breakdown-rows'
import type { BreakdownFilter } from './breakdown-schema'
import { addedColumns } from '../../../request-logs/tag-sums'
import { splitTags } from '../../../wire/tags'

const keyNames = sql.raw('grain, starts_at, user_id, key_id, model')
const sums = sql.raw(addedColumns.join(', '))
const negatedSums = sql.raw(addedColumns.map((name) => `-${name}`).join(', '))

const taggedSums = sql`request_tag_sum as request_sum`

/** The sums of requests by their tags: what has none is what remains of all, so that the sums of both are the same. */
const allSums = sql`(
  select ${keyNames}, '{}'::text[] as tags, ${sums} from request_sum
  union all
  select ${keyNames}, tags, ${sums} from request_tag_sum
  union all
  select ${keyNames}, '{}'::text[], ${negatedSums} from request_tag_sum
) as request_sum`

type TagFilter = Pick<BreakdownFilter, 'group_by' | 'split_by' | 'tag'>

/** Reads a source that is summed from request logs by its tags, where a filter needs them. */
export function withTags(
  source: BreakdownSource,
  { group_by: by, split_by: split, tag }: TagFilter,
): BreakdownSource {
  const columns = { ...source.columns, keys: [...source.columns.keys, 'tags'] }
  if (tag !== undefined) {
    const { where = sql`true` } = source
    return {
      ...source,
      columns,
      table: taggedSums,
      where: sql`${where} and tags @> ${splitTags(tag)}::text[]`,
    }
  }
  if (by !== 'tag' && split !== 'tag') return source
  return { ...source, columns, table: allSums, having: sql`having sum(requests) <> 0` }
}
