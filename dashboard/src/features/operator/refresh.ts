import { useQueryClient } from '@tanstack/react-query'

/** Reloads all operator data: a change on one page is visible on others too. */
export function useRefresh() {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: ['operator'] })
}
