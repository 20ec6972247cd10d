{{- define "feedmill.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "feedmill.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "feedmill.labels" -}}
{{ include "feedmill.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* Whether replicas store nothing. */ -}}
{{- define "feedmill.stateless" -}}
{{- if and .Values.database.existingSecret .Values.bucket.url }}yes{{ end }}
{{- end }}

{{- /* Values that would lose data or not start are refused. */ -}}
{{- define "feedmill.check" -}}
{{- if and .Values.bucket.url (not .Values.database.existingSecret) }}{{ fail "bucket.url requires database.existingSecret" }}{{ end }}
{{- if and (gt (int .Values.replicas) 1) (not (include "feedmill.stateless" .)) }}{{ fail "replicas above 1 require database.existingSecret and bucket.url" }}{{ end }}
{{- if and (include "feedmill.stateless" .) (not .Values.vault.existingSecret) }}{{ fail "a database and a bucket require vault.existingSecret, because replicas share the key" }}{{ end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}{{ fail "ingress.enabled requires ingress.host" }}{{ end }}
{{- end }}

{{- define "feedmill.pod" -}}
metadata:
  labels:
    {{- include "feedmill.labels" . | nindent 4 }}
  {{- with .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "feedmill.name" . }}
  automountServiceAccountToken: false
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  # The server ends within 30 seconds of SIGTERM.
  terminationGracePeriodSeconds: 40
  containers:
    - name: feedmill
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      ports:
        - name: http
          containerPort: 8080
      env:
        {{- with .Values.publicUrl }}
        - name: FEEDMILL_PUBLIC_URL
          value: {{ . | quote }}
        {{- end }}
        {{- with .Values.bucket.url }}
        - name: FEEDMILL_BLOB_URL
          value: {{ . | quote }}
        {{- end }}
        {{- range $name, $value := .Values.settings }}
        - name: {{ $name }}
          value: {{ $value | toString | quote }}
        {{- end }}
      {{- $secrets := compact (list .Values.database.existingSecret .Values.bucket.existingSecret .Values.vault.existingSecret .Values.bootstrap.existingSecret) | uniq }}
      {{- with $secrets }}
      envFrom:
        {{- range . }}
        - secretRef:
            name: {{ . }}
        {{- end }}
      {{- end }}
      # A server whose database is away responds to /healthz, so that it is not restarted, and not
      # to /readyz, so that it gets no requests.
      startupProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 2
        failureThreshold: 150
      livenessProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: 5
        timeoutSeconds: 5
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - name: data
          mountPath: /var/lib/feedmill
        - name: temp
          mountPath: /tmp
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  volumes:
    - name: temp
      emptyDir: {}
    {{- if include "feedmill.stateless" . }}
    - name: data
      emptyDir:
        sizeLimit: {{ .Values.scratch.size }}
    {{- end }}
{{- end }}
