import type { Meter } from '@opentelemetry/api';
import type { CleanAttributes } from '../clean-attributes.js';
import { METRICS, type Metric, type MetricName } from '../metrics.js';

export type MetricRecorder = (name: MetricName, value: number, attributes: CleanAttributes) => void;

/** Instruments are made when they are first used. */
export function createMetricRecorder(meter: Meter): MetricRecorder {
  const instruments = new Map<MetricName, (value: number, attributes: CleanAttributes) => void>();
  return (name, value, attributes) => {
    let record = instruments.get(name);
    if (record === undefined) {
      record = createInstrument(meter, name, METRICS[name]);
      instruments.set(name, record);
    }
    record(value, attributes);
  };
}

function createInstrument(meter: Meter, name: string, { kind, unit, description, boundaries }: Metric) {
  switch (kind) {
    case 'counter': {
      const counter = meter.createCounter(name, { unit, description });
      return (value: number, attributes: CleanAttributes) => counter.add(value, attributes);
    }
    case 'updown': {
      const counter = meter.createUpDownCounter(name, { unit, description });
      return (value: number, attributes: CleanAttributes) => counter.add(value, attributes);
    }
    case 'histogram': {
      const advice = boundaries === undefined ? {} : { advice: { explicitBucketBoundaries: [...boundaries] } };
      const histogram = meter.createHistogram(name, { unit, description, ...advice });
      return (value: number, attributes: CleanAttributes) => histogram.record(value, attributes);
    }
  }
}
