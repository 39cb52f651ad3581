import { ResourceForm } from '../../../components/resource-form'
import { NumberInput, Select, SimpleGrid, Switch } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import type { Schemas } from '../../../api/client'
import { changedFields } from '../../../components/changed-fields'
import { Card } from '../../../components/card'
import type { Operated } from './queries'
import { PlanSelect } from '../plans/plan-select'

const kinds = [
  { value: 'cloud_provider', label: 'Cloud provider' },
  { value: 'enterprise_it', label: 'Enterprise IT' },
  { value: 'research_institution', label: 'Research institution' },
  { value: 'startup', label: 'Startup' },
]

const fieldsOf = (one: Operated) => ({
  plan_id: one.plan_id,
  member_limit: one.member_limit,
  provider_kind: one.provider_kind,
  payment_method_required: one.payment_method_required,
})

type Terms = ReturnType<typeof fieldsOf>

interface Props {
  organization: Operated
  onSave: (changes: Schemas['OperatedOrganization']) => Promise<Operated>
}

/** The terms of an organization that only the operator sets. */
export function OrganizationTerms({ organization, onSave }: Props) {
  const before = fieldsOf(organization)
  const form = useForm({ initialValues: before })
  const save = async (fields: Terms) => {
    const saved = fieldsOf(
      await onSave(changedFields<Schemas['OperatedOrganization']>(fields, before)),
    )
    form.setInitialValues(saved)
    form.setValues(saved)
    notifications.show({ message: 'Saved.' })
  }
  return (
    <Card title="Terms">
      <ResourceForm form={form} save={save} label="Save terms">
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <PlanSelect label="Plan" allowDeselect={false} {...form.getInputProps('plan_id')} />
          <NumberInput
            label="Member limit"
            description="If empty, the plan's limit"
            min={1}
            allowDecimal={false}
            thousandSeparator
            {...form.getInputProps('member_limit')}
          />
          <Select
            label="Kind"
            placeholder="Not set"
            clearable
            data={kinds}
            {...form.getInputProps('provider_kind')}
          />
        </SimpleGrid>
        <Switch
          label="Require payment before paid requests"
          {...form.getInputProps('payment_method_required', { type: 'checkbox' })}
        />
      </ResourceForm>
    </Card>
  )
}
