import { useNavigate } from '@tanstack/react-router'
import type { Chat } from './queries'

/**
 * Navigates to where messages can be sent in a session: a session with tools has a page that shows its
 * tool calls.
 */
export function useGoToChat() {
  const navigate = useNavigate()
  return ({ id, gatewayId }: Pick<Chat, 'id' | 'gatewayId'>): Promise<void> =>
    gatewayId === null
      ? navigate({ to: '/playground', search: { chat: id } })
      : navigate({ to: '/sessions/$id', params: { id } })
}
