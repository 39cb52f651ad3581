import { Select, type SelectProps } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { plansQuery } from './queries'

/** Selects a plan; the plans page shows their limits. */
export function PlanSelect(props: Omit<SelectProps, 'data'>) {
  const { data: plans = [] } = useQuery(plansQuery)
  return <Select {...props} data={plans.map(({ id, name }) => ({ value: id, label: name }))} />
}
