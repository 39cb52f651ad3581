import { useNavigate } from '@tanstack/react-router'
import type { Talk } from './automation'

/** Goes where something can be said in a session: one with tools has a page on which they are seen. */
export function useGoToTalk() {
  const navigate = useNavigate()
  return ({ id, gatewayId }: Pick<Talk, 'id' | 'gatewayId'>): Promise<void> =>
    gatewayId === null
      ? navigate({ to: '/playground', search: { chat: id } })
      : navigate({ to: '/sessions/$id', params: { id } })
}
