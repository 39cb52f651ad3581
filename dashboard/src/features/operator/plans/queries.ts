import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'

const planPage = 100

async function plansFrom(offset: number) {
  const query = { limit: planPage, offset }
  return bodyOf(api.GET('/api/admin/plans', { params: { query } }))
}

/** All plans, newest first. */
export const plansQuery = queryOptions({
  queryKey: ['operator', 'plans'],
  queryFn: async () => {
    let { plans, pagination } = await plansFrom(0)
    const all = [...plans]
    while (pagination.has_more) {
      ;({ plans, pagination } = await plansFrom(all.length))
      all.push(...plans)
    }
    return all
  },
})

export type Plan = Schemas['Plan']
