import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { callableModelsQuery, freeModelQuery } from '../models/queries'
import type { PlaygroundKind } from './kinds'

const route = getRouteApi('/home/playground')

/** The selected model of a kind, with its price where it is known, and a function to select another one. */
export function useMediaModel(kind: PlaygroundKind) {
  const { model: chosen } = route.useSearch()
  const navigate = route.useNavigate()
  const { data: free = '' } = useQuery(freeModelQuery(kind))
  const model = chosen ?? free
  const { data: models } = useQuery(callableModelsQuery(kind, model))
  const known = models?.find(({ id }) => id === model)
  return {
    model,
    known,
    /** No model of the kind can be called, and none is named. */
    hasNone: model === '' && models?.length === 0,
    select: (name: string) =>
      void navigate({ search: (old) => ({ ...old, model: name || undefined }), replace: true }),
  }
}

export type MediaModel = ReturnType<typeof useMediaModel>
