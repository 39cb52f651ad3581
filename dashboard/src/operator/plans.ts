import { queryOptions } from '@tanstack/react-query'
import { admin } from '../api'

const planPage = 100

async function plansFrom(offset: number) {
  const query = { limit: String(planPage), offset: String(offset) }
  return (await admin.plans.$get({ query })).json()
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

export type Plan = Awaited<ReturnType<NonNullable<typeof plansQuery.queryFn>>>[number]
