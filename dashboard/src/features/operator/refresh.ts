import { useQueryClient } from '@tanstack/react-query'

/** Reloads all operator data, and what the service says of itself: a change on one page is visible on others too. */
export function useRefresh() {
  const queries = useQueryClient()
  return async () => {
    const keys = [['operator'], ['service']]
    await Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })))
  }
}
