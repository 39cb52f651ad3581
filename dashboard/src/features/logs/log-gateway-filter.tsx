import { useQuery } from '@tanstack/react-query'
import { NamedSelect } from '../../components/named-select'
import { gatewaysQuery } from '../gateways/queries'

interface Props {
  /** The id of a gateway. */
  value: string | undefined
  onChange: (value: string | undefined) => void
}

/** Filters by self-hosted gateway; renders nothing when the user has none. */
export function LogGatewayFilter({ value, onChange }: Props) {
  const { data, error } = useQuery(gatewaysQuery)
  if (!data?.length && value === undefined && !error) return undefined
  return (
    <NamedSelect label="Gateway" options={data} error={error} value={value} onChange={onChange} />
  )
}
