import { useNavigate } from '@tanstack/react-router'
import type { Talk } from './automation'

/**
 * Navigates to where messages can be sent in a session: a session with tools has a page that shows its
 * tool calls.
 */
export function useGoToTalk() {
  const navigate = useNavigate()
  return ({ id, gatewayId }: Pick<Talk, 'id' | 'gatewayId'>): Promise<void> =>
    gatewayId === null
      ? navigate({ to: '/playground', search: { chat: id } })
      : navigate({ to: '/sessions/$id', params: { id } })
}
