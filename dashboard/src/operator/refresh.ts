import { useQueryClient } from '@tanstack/react-query'

/** Reads all that an operator sees anew: what is changed on one page stands on others too. */
export function useRefresh() {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: ['operator'] })
}
