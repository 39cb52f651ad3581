import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { gatewaysQuery } from '../gateways'

interface Props {
  /** The id of a gateway. */
  value: string | undefined
  onChange: (value: string | undefined) => void
}

/** Which self-hosted gateway was asked; nothing for who has none. */
export function LogGatewayFilter({ value, onChange }: Props) {
  const { data: gateways = [], error } = useQuery(gatewaysQuery)
  const known = gateways.map(({ id, name }) => ({ value: id, label: name }))
  if (known.length === 0 && value === undefined && !error) return undefined
  const isUnknown = value !== undefined && known.every((one) => one.value !== value)
  return (
    <Select
      label="Gateway"
      placeholder="All"
      clearable
      searchable
      data={isUnknown ? [...known, { value, label: value }] : known}
      value={value ?? null}
      onChange={(chosen) => onChange(chosen ?? undefined)}
      {...(error && { error: error.message })}
    />
  )
}
