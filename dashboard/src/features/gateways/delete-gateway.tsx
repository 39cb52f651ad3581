import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client'
import { Confirm } from '../../components/confirm'
import { connectionsQuery } from '../connections/queries'
import { gatewaysQuery, type Gateway } from './queries'

interface Props {
  gateway: Pick<Gateway, 'id' | 'name'>
  /** Called after the deletion. */
  onDeleted?: () => Promise<unknown>
  onClose: () => void
}

/** Asks for confirmation before a gateway is deleted. */
export function DeleteGateway({ gateway: { id, name }, onDeleted, onClose }: Props) {
  const queries = useQueryClient()
  const remove = async () => {
    await api.DELETE('/api/gateways/{id}', { params: { path: { id } } })
    await onDeleted?.()
    queries.setQueryData(gatewaysQuery.queryKey, (all) => all?.filter((one) => one.id !== id))
    await queries.invalidateQueries(gatewaysQuery)
    await queries.invalidateQueries(connectionsQuery)
  }
  return (
    <Confirm
      question={`Delete ${name}?`}
      about="The gateway is disconnected within a second and its running requests end. Its token is revoked, its connections become inactive, and sessions that use it fail at their next message. Logs stay. This cannot be undone."
      label="Delete"
      onConfirm={remove}
      onClose={onClose}
    />
  )
}
