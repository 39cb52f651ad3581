import { useQueryClient } from '@tanstack/react-query'
import { api } from '../api'
import { Confirm } from '../components/confirm'
import { connectionsQuery } from '../connections'
import { gatewaysQuery, type Gateway } from '../gateways'

interface Props {
  gateway: Pick<Gateway, 'id' | 'name'>
  /** Called after the deletion. */
  onGone?: () => Promise<unknown>
  onClose: () => void
}

/** Asks for confirmation before a gateway is deleted. */
export function DeleteGateway({ gateway: { id, name }, onGone, onClose }: Props) {
  const queries = useQueryClient()
  const remove = async () => {
    await api.gateways[':id'].$delete({ param: { id } })
    await onGone?.()
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
